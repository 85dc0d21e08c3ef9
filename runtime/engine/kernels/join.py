"""Operators that move values: joining, padding, gathering, copying a state back."""

from __future__ import annotations

import numpy as np

from ...errors import ModelError
from .operator import Array, Attributes, Binding, Node, Operator


def concat_reference(attributes: Attributes, *inputs: Array) -> Array:
    return np.concatenate(inputs, attributes["axis"])


def part(x: Array, axis: int, start: int, count: int) -> Array:
    return x[(slice(None),) * axis + (slice(start, start + count),)]


def bind_concat(b: Binding, node: Node, *inputs: Array) -> Array:
    axis = node.attributes["axis"] % inputs[0].ndim
    out, done = b.joined(inputs, axis)
    start = 0
    for position, x in enumerate(inputs):
        if position not in done and x.size:
            b.copy(part(out, axis, start, x.shape[axis]), x)
        start += x.shape[axis]
    return out


def gather_reference(attributes: Attributes, x: Array, index: Array) -> Array:
    return np.take(x, index, axis=attributes.get("axis", 0))


def bind_gather(b: Binding, node: Node, x: Array, index: Array) -> Array:
    """A view for one known index; else take(), in the modes that need no copy of the output."""
    axis = node.attributes.get("axis", 0) % x.ndim
    if b.known(1):
        size = x.shape[axis]
        if index.size and not (-size <= index.min() and index.max() < size):
            raise ModelError(f"node '{node.name}' gathers outside 0..{size - 1}")
        if not index.ndim:
            return x[(*(slice(None),) * axis, int(index), ...)]
        if index.size and index.min() < 0:
            index = index % size
        index = index.astype(np.intp, copy=False)
    elif not np.can_cast(index.dtype, np.intp):  # on a 32-bit machine
        wide, index = index, b.scratch("index", index.shape, np.intp)
        b.copy(index, wide)
    out = b.rows((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)
    b.call(
        x.take, index, axis, out, "wrap"
    )  # negative indices count from the end; as fast as any mode or faster
    return out


def pad_widths(x: Array, pads: Array, axes: Array | None) -> list[tuple[int, int]]:
    where = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes.tolist()]
    widths = [(0, 0)] * x.ndim
    for position, axis in enumerate(where):
        widths[axis] = (int(pads[position]), int(pads[position + len(where)]))
    return widths


def pad_reference(
    attributes: Attributes, x: Array, pads: Array, value: Array | None = None, axes: Array | None = None
) -> Array:
    mode, widths = attributes.get("mode", "constant"), pad_widths(x, pads, axes)
    cut = tuple(
        slice(max(0, -before), size - max(0, -after))
        for (before, after), size in zip(widths, x.shape, strict=True)
    )
    grow = [(max(0, before), max(0, after)) for before, after in widths]
    if mode == "constant":
        return np.pad(x[cut], grow, constant_values=x.dtype.type(0 if value is None else value[()]))
    return np.pad(x[cut], grow, mode=mode)


def bind_pad(
    b: Binding, node: Node, x: Array, pads: Array, value: Array | None = None, axes: Array | None = None
) -> Array:
    """Constant: fill, then copy the middle. Other modes: one take() along the one padded axis."""
    mode, widths = node.attributes.get("mode", "constant"), pad_widths(x, pads, axes)
    shape = tuple(before + size + after for (before, after), size in zip(widths, x.shape, strict=True))
    padded = [axis for axis, width in enumerate(widths) if width != (0, 0)]
    out = b.rows(shape, x.dtype)
    if mode != "constant" and len(padded) == 1:
        axis = padded[0]
        index = np.asarray(
            pad_reference({"mode": mode}, np.arange(x.shape[axis]), np.array(widths[axis])), np.intp
        )
        b.call(x.take, index, axis, out, "clip")
        return out
    if mode != "constant" and padded:
        raise ModelError(f"node '{node.name}': Pad with mode {mode} on {len(padded)} axes is not supported")
    b.call(out.fill, 0 if value is None else value[()])
    inner, source = [], []
    for (before, after), size in zip(widths, x.shape, strict=True):
        inner.append(slice(max(0, before), before + size + after - max(0, after)))
        source.append(slice(max(0, -before), size - max(0, -after)))
    b.copy(out[tuple(inner)], x[tuple(source)])
    return out


def copy_reference(_: Attributes, x: Array) -> Array:
    return x.copy()


def bind_copy(b: Binding, node: Node, x: Array) -> Array:
    out = b.rows(x.shape, x.dtype)
    b.copy(out, x)
    return out


def bind_store_state(b: Binding, node: Node, value: Array, state: Array) -> tuple[()]:
    """Writes the new state over the old one, after every reader of the old."""
    if value.shape != state.shape:
        raise ModelError(
            f"node '{node.name}': the new state has shape {value.shape}, the old one {state.shape}"
        )
    b.copy(state, value)
    return ()


OPERATORS = {
    "Concat": Operator(concat_reference, bind_concat),
    "Gather": Operator(gather_reference, bind_gather, view=True),
    "Pad": Operator(pad_reference, bind_pad, shape_inputs=(1, 2, 3)),
}
FUSED = {
    "Copy": Operator(copy_reference, bind_copy),
    "StoreState": Operator(copy_reference, bind_store_state),
}
