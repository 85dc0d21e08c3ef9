"""Questions about the memory layout of arrays, asked while binding, never while running."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike

from .operator import Array, Shape

ROW_ELEMENTS = 16384
"""Up to this many elements a full-size operand (64 KiB of zeros) is cheaper than broadcasting a row."""


def view_as(x: Array, shape: Shape) -> Array | None:
    """x in another shape without copying, or None where numpy would have to copy."""
    y = x.reshape(shape)
    if x.flags.c_contiguous or (y.size and np.may_share_memory(x, y)):
        return y
    return y if not y.size else None


def flat(*arrays: Array) -> tuple[Array, ...]:
    """The same arrays with one axis (single elements with none) where that is free: numpy's fastest loop."""
    shape = max((x.shape for x in arrays), key=len)
    for x in arrays:
        if x.size != 1 and (not x.flags.c_contiguous or x.shape != shape):
            return arrays
    return tuple(x.reshape(()) if x.size == 1 else x.reshape(-1) for x in arrays)


def blas_ready(x: Array) -> bool:
    """Whether numpy hands the last two axes to BLAS as they are: one has unit stride, the other covers it."""
    (rows, columns), (down, right), item = x.shape[-2:], x.strides[-2:], x.itemsize
    if rows == 1 or columns == 1:
        return x.flags.c_contiguous or item in (down, right)
    return (right == item and down >= columns * item) or (down == item and right >= rows * item)


def strided(x: Array, shape: Shape, strides: Shape) -> Array:
    """A view of x from its first element on with other strides (bytes); lighter than as_strided."""
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def neighbours(inputs: tuple[Array, ...], axis: int) -> Array | None:
    """The one view that covers all inputs, where they already lie side by side in memory."""
    first = inputs[0]
    at = first.__array_interface__["data"][0]
    for x in inputs:
        if x.strides != first.strides or x.__array_interface__["data"][0] != at:
            return None
        at += x.shape[axis] * x.strides[axis]
    total = sum(x.shape[axis] for x in inputs)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    return strided(first, shape, first.strides)


@lru_cache(maxsize=64)
def filled(count: int, value: float) -> Array:
    """A constant float32 vector, shared by all programs."""
    x = np.full(count, value, np.float32)
    x.flags.writeable = False
    return x


def scalar(value: float, dtype: DTypeLike = np.float32) -> Array:
    """A 0-d array, which ufuncs take without converting anything."""
    return np.array(value, dtype)
