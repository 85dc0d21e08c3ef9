"""Turns nodes into steps over views of memory, repeating the decisions of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import ModelError
from .kernels.layout import neighbours, view_as
from .kernels.operator import Array, Node, Shape
from .plan import Block, Slot, total
from .rewrite import evaluate
from .schedule import ALL, SIZES, Schedule

FEW_ROWS = 3
"""Up to so many rows a constant row is kept in full size: numpy broadcasts (3, 672) in 0.8 µs, adds it in 0.3."""
Step = tuple[Callable[..., object], tuple[Any, ...]]


@dataclass(frozen=True)
class Plan:
    """Every decision of the rehearsal; a binding repeats them, so that lifetimes stay true."""

    slots: Mapping[str, Slot] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    in_place: Mapping[str, int] = field(default_factory=dict)
    """Outputs that overwrite an input: its position among the node's inputs."""
    joined: frozenset[str] = frozenset()
    """Values made inside their Concat's output."""
    views: frozenset[str] = frozenset()
    """Reshapes and Concats that are views."""
    running: frozenset[str] = frozenset()
    """Values made of sizes that are nevertheless computed at run time, because they are large."""

    @property
    def arena_bytes(self) -> int:
        return total(dict(self.slots))


class Binder:
    """Binds one node after another; `steps` is the program for these sizes."""

    def __init__(
        self,
        schedule: Schedule,
        plan: Plan,
        arena: Array,
        values: dict[str, Array],
        known: set[str],
        rows: dict[tuple[int, int], Array] | None = None,
    ) -> None:
        self.schedule, self.plan, self.arena = schedule, plan, arena
        self.values, self.known_names = values, known
        self.steps: list[Step] = []
        self.full_rows = {} if rows is None else rows
        self.prefilled: dict[str, tuple[Array, int]] = {}
        self.node: Node

    def bind_all(self) -> None:
        for index, node in enumerate(self.schedule.nodes):
            self.node = node
            self.bind_node(index, node)

    def bind_node(self, index: int, node: Node) -> None:
        values = self.values
        if self.is_known(node):
            values.update(zip(node.outputs, evaluate(node, values), strict=False))
            self.known_names.update(node.outputs)
            return
        bind = ALL[node.operator].bind
        assert bind is not None
        try:
            result = bind(self, node, *[values[name] if name else None for name in node.inputs])
        except (ValueError, IndexError, TypeError, KeyError, AttributeError) as error:
            raise ModelError(
                f"node '{node.name}' ({node.operator}) does not fit its inputs: {error}"
            ) from error
        for name, value in zip(
            node.outputs, result if isinstance(result, tuple) else (result,), strict=False
        ):
            values[name] = value

    def is_known(self, node: Node) -> bool:
        if node.operator in SIZES:
            return True
        known = self.known_names
        return (
            all(not name or name in known for name in node.inputs)
            and node.outputs[0] not in self.plan.running
        )

    # What bind functions ask for: see kernels.operator.Binding.

    def known(self, position: int) -> bool:
        return self.node.inputs[position] in self.known_names

    def repeated(self, row: Array, count: int) -> Array:
        if not 1 < count <= FEW_ROWS:
            return row
        key = (row.__array_interface__["data"][0], count)
        if key not in self.full_rows:
            self.full_rows[key] = np.ascontiguousarray(np.broadcast_to(row, (count, row.size)))
        return self.full_rows[key]

    def call(self, kernel: Callable[..., object], *args: Any) -> None:
        self.steps.append((kernel, args))

    def copy(self, target: Array, source: Array) -> None:
        self.steps.append((np.ndarray.__setitem__, (target, ..., source)))

    def scratch(self, label: str, shape: Shape, dtype: DTypeLike = np.float32) -> Array:
        return self.memory(f"{self.node.outputs[0]}:{label}", shape, dtype)

    def output(self, shape: Shape, dtype: DTypeLike, reuse: Sequence[Array] = ()) -> Array:
        name = self.node.outputs[0]
        joined = self.join(name, shape, dtype)
        if joined is not None:
            return joined
        old = self.overwritten(name, shape, dtype, reuse)
        if old is not None:
            return old
        order = self.schedule.orders.get(name) or axis_order(reuse, shape)
        if order is None or len(order) != len(shape):
            return self.memory(name, shape, dtype)
        inner = self.memory(name, tuple(shape[axis] for axis in order), dtype)
        return inner.transpose(sorted(range(len(order)), key=order.__getitem__))

    def rows(self, shape: Shape, dtype: DTypeLike, reuse: Sequence[Array] = ()) -> Array:
        name = self.node.outputs[0]
        joined = self.join(name, shape, dtype)
        if joined is not None:
            return joined
        old = self.overwritten(name, shape, dtype, reuse)
        return self.memory(name, shape, dtype) if old is None else old

    def join(self, name: str, shape: Shape, dtype: DTypeLike) -> Array | None:
        """The value's place inside its Concat's output."""
        if name not in self.plan.joined:
            return None
        concat, position = self.schedule.joins[name]
        shapes = [
            shape if i == position else self.values[other].shape for i, other in enumerate(concat.inputs)
        ]
        axis = concat.attributes["axis"] % len(shape)
        sizes = [other[axis] for other in shapes]
        whole = self.memory(concat.outputs[0], (*shape[:axis], sum(sizes), *shape[axis + 1 :]), dtype)
        self.prefilled[concat.outputs[0]] = (whole, position)
        start = sum(sizes[:position])
        return whole[(slice(None),) * axis + (slice(start, start + sizes[position]),)]

    def overwritten(self, name: str, shape: Shape, dtype: DTypeLike, reuse: Sequence[Array]) -> Array | None:
        position = self.plan.in_place.get(name)
        return None if position is None else self.values[self.node.inputs[position]]

    def reshaped(self, x: Array, shape: Shape) -> Array:
        name = self.node.outputs[0]
        if name in self.plan.views:
            view = view_as(x, shape)
            if view is not None:
                return view
            out: Array = np.empty(
                shape, x.dtype
            )  # the longest sizes happened to need no copy, these do: bound once
            self.copy(out.reshape(x.shape), x)
            return out
        out = self.rows(shape, x.dtype)
        self.copy(out.reshape(x.shape), x)
        return out

    def joined(self, inputs: tuple[Array, ...], axis: int) -> tuple[Array, frozenset[int]]:
        name = self.node.outputs[0]
        if name in self.plan.views:
            view = neighbours(inputs, axis)
            assert view is not None
            return view, frozenset(range(len(inputs)))
        if name in self.prefilled:
            whole, position = self.prefilled[name]
            return whole, frozenset((position,))
        first = inputs[0]
        total_size = sum(x.shape[axis] for x in inputs)
        return self.output(
            (*first.shape[:axis], total_size, *first.shape[axis + 1 :]), first.dtype
        ), frozenset()

    def memory(self, name: str, shape: Shape, dtype: DTypeLike) -> Array:
        slot = self.plan.slots[name]
        size = prod(shape) * np.dtype(dtype).itemsize
        if size > slot.size:
            raise ModelError(
                f"'{name}' of {shape} needs {size} bytes, {slot.size} are planned: raise max_dims"
            )
        return np.ndarray(shape, dtype, self.arena, slot.offset)


def axis_order(reuse: Sequence[Array], shape: Shape) -> tuple[int, ...] | None:
    """The order in which the first operand of this shape lies in memory, when not the usual one."""
    for x in reuse:
        if x.shape == shape:
            if x.flags.c_contiguous or 0 in x.strides:
                return None
            return tuple(sorted(range(x.ndim), key=lambda axis: -x.strides[axis]))
    return None
