"""Operators that are one numpy ufunc: arithmetic, comparison, exponentials; and selecting between two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ModelError
from .layout import flat
from .operator import Array, Attributes, Binding, Node, Operator


def broadcast_shape(*arrays: Array) -> tuple[int, ...]:
    return arrays[0].shape if len(arrays) == 1 else np.broadcast(*arrays).shape


def ufunc(function: Any, dtype: type | None = None) -> Operator:
    """An operator that is exactly one call; `dtype` where the result's differs from the input's."""

    def unary(_: Attributes, x: Array) -> Array:
        return np.asarray(function(x), dtype or x.dtype)

    def binary(_: Attributes, x: Array, y: Array) -> Array:
        return np.asarray(function(x, y), dtype or x.dtype)

    def bind(b: Binding, node: Node, *inputs: Array) -> Array:
        out = b.output(broadcast_shape(*inputs), dtype or inputs[0].dtype, reuse=inputs)
        b.call(function, *flat(*inputs, out))
        return out

    return Operator(unary if function.nin == 1 else binary, bind)


def divide_reference(_: Attributes, x: Array, y: Array) -> Array:
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    return np.asarray(np.sign(x) * np.sign(y) * (abs(x) // abs(y)), x.dtype)  # ONNX truncates


def bind_divide(b: Binding, node: Node, x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        raise ModelError(f"node '{node.name}' divides integers that are only known while running")
    out = b.output(broadcast_shape(x, y), x.dtype, reuse=(x, y))
    b.call(np.divide, *flat(x, y, out))
    return out


def power_reference(_: Attributes, x: Array, y: Array) -> Array:
    return np.power(x, y).astype(x.dtype)


def bind_power(b: Binding, node: Node, x: Array, y: Array) -> Array:
    out = b.output(broadcast_shape(x, y), x.dtype, reuse=(x,))
    exponent = float(y.reshape(())) if b.known(1) and y.size == 1 else None
    if exponent == 2:
        b.call(np.multiply, *flat(x, x, out))
    elif exponent == 0.5:
        b.call(np.sqrt, *flat(x, out))
    else:
        b.call(np.power, *flat(x, y, out))
    return out


def where_reference(_: Attributes, condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition, x, y).astype(x.dtype)


def select(out: Array, condition: Array, x: Array) -> None:
    np.copyto(out, x, where=condition)


def bind_where(b: Binding, node: Node, condition: Array, x: Array, y: Array) -> Array:
    out = b.output(broadcast_shape(condition, x, y), x.dtype, reuse=(y,) if y.dtype == x.dtype else ())
    if out is not y:
        b.copy(out, y)
    b.call(select, out, condition, x)
    return out


def cast_reference(attributes: Attributes, x: Array) -> Array:
    return x.astype(attributes["dtype"])


def bind_cast(b: Binding, node: Node, x: Array) -> Array:
    if x.dtype == node.attributes["dtype"]:
        return x
    out = b.output(x.shape, node.attributes["dtype"])
    b.copy(out, x)
    return out


OPERATORS = {
    "Add": ufunc(np.add),
    "Sub": ufunc(np.subtract),
    "Mul": ufunc(np.multiply),
    "Div": Operator(divide_reference, bind_divide),
    "Pow": Operator(power_reference, bind_power),
    "Neg": ufunc(np.negative),
    "Abs": ufunc(np.absolute),
    "Sqrt": ufunc(np.sqrt),
    "Exp": ufunc(np.exp),
    "Log": ufunc(np.log),
    "Sin": ufunc(np.sin),
    "Cos": ufunc(np.cos),
    "Floor": ufunc(np.floor),
    "Reciprocal": ufunc(np.reciprocal),
    "Equal": ufunc(np.equal, np.bool_),
    "Less": ufunc(np.less, np.bool_),
    "Greater": ufunc(np.greater, np.bool_),
    "Not": ufunc(np.logical_not, np.bool_),
    "And": ufunc(np.logical_and, np.bool_),
    "Or": ufunc(np.logical_or, np.bool_),
    "Where": Operator(where_reference, bind_where),
    "Cast": Operator(cast_reference, bind_cast, view=True),
}
