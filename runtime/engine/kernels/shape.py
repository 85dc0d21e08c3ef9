"""Operators that only look at memory differently, and those that compute sizes: free at run time."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np

from ...errors import ModelError
from .operator import Array, Attributes, Binding, Node, Operator, Result, Shape


def transpose(attributes: Attributes, x: Array) -> Array:
    return x.transpose(attributes.get("perm") or None)


def squeeze(_: Attributes, x: Array, axes: Array | None = None) -> Array:
    return x.squeeze() if axes is None else x.squeeze(tuple(axes.tolist()))


def unsqueeze(_: Attributes, x: Array, axes: Array) -> Array:
    where = {int(axis) % (x.ndim + axes.size) for axis in axes.tolist()}
    return x[tuple(None if axis in where else slice(None) for axis in range(x.ndim + len(where)))]


def identity(_: Attributes, x: Array) -> Array:
    return x


def slices(
    _: Attributes, x: Array, starts: Array, ends: Array, axes: Array | None = None, steps: Array | None = None
) -> Array:
    """ONNX clamps bounds as Python does, except that an end before the first element stays before it."""
    index: list[slice] = [slice(None)] * x.ndim
    where = range(starts.size) if axes is None else axes.tolist()
    strides = [1] * starts.size if steps is None else steps.tolist()
    for axis, start, end, step in zip(where, starts.tolist(), ends.tolist(), strides, strict=True):
        size = x.shape[axis]
        start = start + size if start < 0 else start
        end = end + size if end < 0 else end
        if step < 0:
            index[axis] = slice(min(max(start, 0), size - 1), None if end < 0 else end, step)
        else:
            index[axis] = slice(max(start, 0), max(end, 0), step)
    return x[tuple(index)]


def split(attributes: Attributes, x: Array, sizes: Array | None = None) -> tuple[Array, ...]:
    axis = attributes.get("axis", 0)
    if sizes is None:
        parts = attributes["num_outputs"]
        each = -(-x.shape[axis] // parts)
        bounds = [each * part for part in range(1, parts)]
    else:
        bounds = np.cumsum(sizes)[:-1].tolist()
    edges = pairwise([0, *bounds, x.shape[axis]])
    before = (slice(None),) * (axis % x.ndim)
    return tuple(x[(*before, slice(start, end))] for start, end in edges)


def new_shape(attributes: Attributes, x: Array, target: Array) -> Shape:
    """Reshape's target: 0 keeps a size (unless allowzero), -1 takes what is left."""
    sizes = target.tolist()
    if not attributes.get("allowzero", 0):
        sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    if -1 in sizes:
        rest = 1
        for size in sizes:
            rest *= size if size != -1 else 1
        sizes[sizes.index(-1)] = x.size // rest if rest else 0
    return tuple(sizes)


def reshape(attributes: Attributes, x: Array, target: Array) -> Array:
    return x.reshape(new_shape(attributes, x, target))


def bind_reshape(b: Binding, node: Node, x: Array, target: Array) -> Array:
    shape = new_shape(dict(node.attributes), x, target)
    if prod(shape) != x.size:
        raise ModelError(f"node '{node.name}' cannot reshape {x.shape} to {shape}")
    return b.reshaped(x, shape)


def flatten_shape(attributes: Attributes, x: Array) -> Shape:
    axis = attributes.get("axis", 1)
    rows = int(np.prod(x.shape[: axis + x.ndim if axis < 0 else axis]))
    return rows, x.size // rows if rows else 0


def flatten(attributes: Attributes, x: Array) -> Array:
    return x.reshape(flatten_shape(attributes, x))


def bind_flatten(b: Binding, node: Node, x: Array) -> Array:
    return b.reshaped(x, flatten_shape(dict(node.attributes), x))


def expand(_: Attributes, x: Array, target: Array) -> Array:
    shape = np.broadcast_shapes(x.shape, tuple(target.tolist()))
    return np.broadcast_to(x, shape)


def shape_of(attributes: Attributes, x: Array) -> Array:
    return np.array(x.shape[attributes.get("start", 0) : attributes.get("end")], np.int64)


def size_of(_: Attributes, x: Array) -> Array:
    return np.array(x.size, np.int64)


def arange(_: Attributes, start: Array, limit: Array, delta: Array) -> Array:
    return np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def constant(attributes: Attributes) -> Array:
    for name in ("value_float", "value_floats", "value_int", "value_ints"):
        if name in attributes:
            return np.array(attributes[name], np.float32 if "float" in name else np.int64)
    if "value" not in attributes:
        raise ModelError(f"a Constant holds {sorted(attributes)}, which is no array")
    value: Array = attributes["value"]
    return value


def constant_of_shape(attributes: Attributes, shape: Array) -> Array:
    value = attributes.get("value", np.zeros(1, np.float32)).reshape(())
    return np.full(tuple(shape.tolist()), value, value.dtype)


def bind_constant_of_shape(b: Binding, node: Node, shape: Array) -> Array:
    value = node.attributes.get("value", np.zeros(1, np.float32)).reshape(())
    out = b.output(tuple(shape.tolist()), value.dtype)
    b.call(out.fill, value)
    return out


def as_view(function: object, *shape_inputs: int) -> Operator:
    """An operator whose reference already returns a view: it takes no step at all."""

    def bind(_: Binding, node: Node, *inputs: Array) -> Result:
        return function(dict(node.attributes), *inputs)  # type: ignore[operator]

    return Operator(function, bind, shape_inputs, view=True)  # type: ignore[arg-type]


OPERATORS = {
    "Transpose": as_view(transpose),
    "Squeeze": as_view(squeeze, 1),
    "Unsqueeze": as_view(unsqueeze, 1),
    "Identity": as_view(identity),
    "Dropout": as_view(lambda attributes, x, *_: x),
    "Slice": as_view(slices, 1, 2, 3, 4),
    "Split": as_view(split, 1),
    "Expand": as_view(expand, 1),
    "Reshape": Operator(reshape, bind_reshape, (1,), view=True),
    "Flatten": Operator(flatten, bind_flatten, view=True),
    "Shape": Operator(shape_of),
    "Size": Operator(size_of),
    "Range": Operator(arange, shape_inputs=(0, 1, 2)),
    "Constant": Operator(constant),
    "ConstantOfShape": Operator(constant_of_shape, bind_constant_of_shape, (0,)),
}
