"""INT8 and float32: weights are expanded at load (constant folding), activations at run time."""

from __future__ import annotations

import numpy as np

from ...errors import ModelError
from .activation import maximum, minimum
from .layout import scalar
from .operator import Array, Attributes, Binding, Node, Operator


def along(attributes: Attributes, x: Array, factor: Array) -> Array:
    """A per-axis factor (size of `axis`) shaped so that it broadcasts against x."""
    if factor.ndim != 1 or factor.size == 1:
        return factor.reshape(()) if factor.size == 1 else factor
    shape = [1] * x.ndim
    shape[attributes.get("axis", 1)] = factor.size
    return factor.reshape(shape)


def dequantise_reference(attributes: Attributes, x: Array, scale: Array, zero: Array | None = None) -> Array:
    if attributes.get("block_size", 0):
        raise ModelError("DequantizeLinear with blocks is not supported; use one scale per output")
    y = x.astype(np.float32)
    if zero is not None and zero.any():
        y -= along(attributes, x, zero).astype(np.float32)
    return y * along(attributes, x, scale)


def bind_dequantise(b: Binding, node: Node, x: Array, scale: Array, zero: Array | None = None) -> Array:
    attributes = dict(node.attributes)
    out = b.rows(x.shape, np.float32)
    b.copy(out, x)
    if zero is not None:
        b.call(np.subtract, out, along(attributes, x, zero), out)
    b.call(np.multiply, out, along(attributes, x, scale), out)
    return out


def quantise_reference(attributes: Attributes, x: Array, scale: Array, zero: Array | None = None) -> Array:
    dtype = np.dtype(np.uint8) if zero is None else zero.dtype
    y = np.rint(x / along(attributes, x, scale))
    y = y if zero is None else y + along(attributes, x, zero).astype(np.float32)
    return np.clip(y, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def bind_quantise(b: Binding, node: Node, x: Array, scale: Array, zero: Array | None = None) -> Array:
    attributes, dtype = dict(node.attributes), np.dtype(np.uint8) if zero is None else zero.dtype
    wide = b.scratch("wide", x.shape)
    b.call(np.divide, x, along(attributes, x, scale), wide)
    b.call(np.rint, wide, wide)
    if zero is not None:
        b.call(np.add, wide, along(attributes, x, zero), wide)
    b.call(maximum, wide, scalar(np.iinfo(dtype).min), wide)
    b.call(minimum, wide, scalar(np.iinfo(dtype).max), wide)
    out = b.rows(x.shape, dtype)
    b.copy(out, wide)
    return out


OPERATORS = {
    "DequantizeLinear": Operator(dequantise_reference, bind_dequantise),
    "QuantizeLinear": Operator(quantise_reference, bind_quantise),
}
