"""Normalisation over an axis: LayerNormalization, Softmax."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from ...errors import ModelError
from .layout import filled, scalar, view_as
from .operator import Array, Attributes, Binding, Node, Operator


def layer_norm_reference(
    attributes: Attributes, x: Array, scale: Array | None = None, bias: Array | None = None
) -> Array:
    axis = attributes.get("axis", -1) % x.ndim
    axes = tuple(range(axis, x.ndim))
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axes, keepdims=True)
    variance = (centred * centred).mean(axes, keepdims=True)
    y = centred / np.sqrt(variance + attributes.get("epsilon", 1e-5))
    y = y if scale is None else y * scale
    return (y if bias is None else y + bias).astype(x.dtype)


def bind_layer_norm(
    b: Binding, node: Node, x: Array, scale: Array | None = None, bias: Array | None = None
) -> Array:
    """Mean and variance as matrix products with ones and with itself: six calls, none of them over a copy."""
    if len([name for name in node.outputs if name]) > 1:
        raise ModelError(f"node '{node.name}': LayerNormalization's mean output is not supported")
    axis = node.attributes.get("axis", -1) % x.ndim
    width = prod(x.shape[axis:])
    count = x.size // width
    source = view_as(x, (count, width))
    out = b.rows(x.shape, x.dtype, reuse=(x,) if x.flags.c_contiguous else ())
    y = out.reshape(count, width)
    if source is None:
        b.copy(out, x)
        source = y
    mean, power = b.scratch("mean", (count,)), b.scratch("power", (count,))
    mean_of = source.dot if source.flags.c_contiguous else partial(np.matmul, source)
    b.call(mean_of, filled(width, 1 / width), mean)  # the method is 0.4 µs faster than matmul
    b.call(np.subtract, source, mean[:, None], y)
    b.call(np.matmul, y[:, None, :], y[:, :, None], power[:, None, None])
    b.call(np.multiply, power, scalar(1 / width), power)
    b.call(np.add, power, scalar(node.attributes.get("epsilon", 1e-5)), power)
    b.call(np.sqrt, power, power)
    b.call(np.divide, y, power[:, None], y)
    if scale is not None:
        b.call(np.multiply, y, scale.reshape(-1), y)
    if bias is not None:
        b.call(np.add, y, bias.reshape(-1), y)
    return out


def softmax_reference(attributes: Attributes, x: Array) -> Array:
    axis = attributes.get("axis", -1)
    y = np.exp(x - x.max(axis, keepdims=True))
    return y / y.sum(axis, keepdims=True)


def bind_softmax(b: Binding, node: Node, x: Array) -> Array:
    axis = node.attributes.get("axis", -1) % x.ndim
    out = b.output(x.shape, x.dtype, reuse=(x,))
    edge = b.scratch("edge", (*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype)
    b.call(np.maximum.reduce, x, axis, None, edge, True)
    b.call(np.subtract, x, edge, out)
    plain = out.reshape(-1) if out.flags.c_contiguous else out
    b.call(np.exp, plain, plain)
    rows = view_as(out, (-1, x.shape[axis])) if axis == x.ndim - 1 and out.flags.c_contiguous else None
    if rows is None:
        b.call(np.add.reduce, out, axis, None, edge, True)
    else:
        b.call(np.matmul, rows, filled(x.shape[axis], 1), edge.reshape(-1))
    b.call(np.divide, out, edge, out)
    return out


OPERATORS = {
    "LayerNormalization": Operator(layer_norm_reference, bind_layer_norm),
    "Softmax": Operator(softmax_reference, bind_softmax),
}
