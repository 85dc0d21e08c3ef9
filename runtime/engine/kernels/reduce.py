"""Reductions over axes: mean, sum, maximum, and where the maximum is."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...errors import ModelError
from .layout import scalar
from .operator import Array, Attributes, Binding, Node, Operator


def reduced_axes(attributes: Attributes, ndim: int, axes: Array | None) -> tuple[int, ...]:
    """Axes from the input (opset 18) or the attribute; without any all, or none if noop_with_empty_axes."""
    given = axes.tolist() if axes is not None else attributes.get("axes", ())
    if not len(given):
        return () if attributes.get("noop_with_empty_axes", 0) else tuple(range(ndim))
    return tuple(axis % ndim for axis in given)


def reduction(function: Any, mean: bool = False) -> Operator:
    """An operator that is ufunc.reduce, divided by the count where `mean`."""
    naive: Callable[..., Any] = np.mean if mean else function.reduce

    def reference(attributes: Attributes, x: Array, axes: Array | None = None) -> Array:
        where = reduced_axes(attributes, x.ndim, axes)
        keep = bool(attributes.get("keepdims", 1))
        return np.asarray(naive(x, axis=where, keepdims=keep), x.dtype) if where else x

    def bind(b: Binding, node: Node, x: Array, axes: Array | None = None) -> Array:
        attributes = dict(node.attributes)
        where = reduced_axes(attributes, x.ndim, axes)
        if not where:
            return x
        kept = tuple(1 if axis in where else size for axis, size in enumerate(x.shape))
        shape = kept if attributes.get("keepdims", 1) else tuple(np.delete(x.shape, where).tolist())
        out = b.rows(shape, x.dtype)
        b.call(function.reduce, x, where, None, out.reshape(kept), True)
        if mean:
            count = prod(x.shape[axis] for axis in where)
            b.call(np.multiply, out.reshape(-1), scalar(1 / count, x.dtype), out.reshape(-1))
        return out

    return Operator(reference, bind, shape_inputs=(1,), view=True)


def argmax_reference(attributes: Attributes, x: Array) -> Array:
    axis = attributes.get("axis", 0) % x.ndim
    if attributes.get("select_last_index", 0):
        raise ModelError("ArgMax with select_last_index is not supported; export it without")
    return np.asarray(np.argmax(x, axis, keepdims=bool(attributes.get("keepdims", 1))), np.int64)


def bind_argmax(b: Binding, node: Node, x: Array) -> Array:
    attributes = dict(node.attributes)
    axis = attributes.get("axis", 0) % x.ndim
    if attributes.get("select_last_index", 0):
        raise ModelError(
            f"node '{node.name}': ArgMax with select_last_index is not supported; export it without"
        )
    left = (*x.shape[:axis], *x.shape[axis + 1 :])
    out = b.rows(
        (*x.shape[:axis], 1, *x.shape[axis + 1 :]) if attributes.get("keepdims", 1) else left, np.int64
    )
    b.call(x.argmax, axis, out.reshape(left))
    return out


OPERATORS = {
    "ArgMax": Operator(argmax_reference, bind_argmax),
    "ReduceMean": reduction(np.add, mean=True),
    "ReduceSum": reduction(np.add),
    "ReduceMax": reduction(np.maximum),
    "ReduceMin": reduction(np.minimum),
}
