"""Turns nodes into steps over views of memory: once in rehearsal for the longest sizes, then for real."""

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
from .plan import Block, Slot, greedy, total
from .rewrite import evaluate
from .schedule import ALL, SIZES, Schedule

Step = tuple[Callable[..., object], tuple[Any, ...]]

KNOWN_BYTES = 65536
"""A value made of sizes and constants is computed at bind time up to this size, in the arena beyond it."""


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

    def __init__(self, schedule: Schedule, plan: Plan, arena: Array, values: dict[str, Array], known: set[str]) -> None:
        self.schedule, self.plan, self.arena = schedule, plan, arena
        self.values, self.known_names = values, known
        self.steps: list[Step] = []
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
            raise ModelError(f"node '{node.name}' ({node.operator}) does not fit its inputs: {error}") from error
        for name, value in zip(node.outputs, result if isinstance(result, tuple) else (result,), strict=False):
            values[name] = value

    def is_known(self, node: Node) -> bool:
        if node.operator in SIZES:
            return True
        known = self.known_names
        return all(not name or name in known for name in node.inputs) and node.outputs[0] not in self.plan.running

    # What bind functions ask for: see kernels.operator.Binding.

    def known(self, position: int) -> bool:
        return self.node.inputs[position] in self.known_names

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
        shapes = [shape if i == position else self.values[other].shape for i, other in enumerate(concat.inputs)]
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
            if view is None:
                raise ModelError(f"node '{self.node.name}': {x.shape} -> {shape} needs a copy that was not planned")
            return view
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
        return self.output((*first.shape[:axis], total_size, *first.shape[axis + 1 :]), first.dtype), frozenset()

    def memory(self, name: str, shape: Shape, dtype: DTypeLike) -> Array:
        slot = self.plan.slots[name]
        size = prod(shape) * np.dtype(dtype).itemsize
        if size > slot.size:
            raise ModelError(f"'{name}' of {shape} needs {size} bytes, {slot.size} are planned: raise max_dims")
        return np.ndarray(shape, dtype, self.arena, slot.offset)


def axis_order(reuse: Sequence[Array], shape: Shape) -> tuple[int, ...] | None:
    """The order in which the first operand of this shape lies in memory, when not the usual one."""
    for x in reuse:
        if x.shape == shape:
            if x.flags.c_contiguous or 0 in x.strides:
                return None
            return tuple(sorted(range(x.ndim), key=lambda axis: -x.strides[axis]))
    return None


class Rehearsal(Binder):
    """Binds for the longest sizes over memory that nobody touches, and notes every decision and lifetime."""

    def __init__(self, schedule: Schedule, values: dict[str, Array], known: set[str]) -> None:
        super().__init__(schedule, Plan(), np.empty(0, np.uint8), values, known)
        self.index = -1
        self.sizes: dict[str, int] = {}
        self.spans: dict[str, tuple[int, int]] = {}
        self.roots: dict[int, str] = {}
        self.keep: list[Array] = []
        self.tenants: dict[str, list[str]] = {}
        self.in_place: dict[str, int] = {}
        self.joined_names: set[str] = set()
        self.views: set[str] = set()
        self.running: set[str] = set()

    def finish(self) -> Plan:
        blocks = tuple(Block(name, self.sizes[name], *self.spans[name]) for name in self.sizes)
        return Plan(
            greedy(blocks), blocks, self.in_place, frozenset(self.joined_names), frozenset(self.views), frozenset(self.running)
        )

    def add_inputs(self, names: Sequence[str]) -> None:
        """Graph inputs keep their content for the whole run."""
        for name in names:
            x = self.values[name]
            self.values[name] = self.memory(name, x.shape, x.dtype)
            self.spans[name] = (-1, len(self.schedule.nodes))

    def bind_node(self, index: int, node: Node) -> None:
        self.index = index
        super().bind_node(index, node)
        if node.outputs and node.outputs[0] in self.known_names and self.too_large(node):
            self.running.add(node.outputs[0])
            self.known_names.difference_update(node.outputs)
            super().bind_node(index, node)
        if not node.outputs or node.outputs[0] not in self.known_names:
            for name in node.outputs:
                self.lodge(name)

    def is_known(self, node: Node) -> bool:
        return super().is_known(node) and not (node.outputs and node.outputs[0] in self.running)

    def too_large(self, node: Node) -> bool:
        operator = ALL[node.operator]
        large = any(self.values[name].nbytes > KNOWN_BYTES for name in node.outputs if name)
        return large and operator.bind is not None and not self.schedule.demanded & set(node.outputs)

    def lodge(self, name: str) -> None:
        """Notes in whose memory a value lies, and until when that memory is read."""
        root = self.root(self.values[name]) if name else None
        if root is not None:
            self.tenants.setdefault(root, []).append(name)
            first, last = self.spans[root]
            self.spans[root] = (first, max(last, self.schedule.last_use.get(name, self.index)))

    def root(self, x: Array) -> str | None:
        owner: Any = x
        while owner is not None:
            if id(owner) in self.roots:
                return self.roots[id(owner)]
            owner = getattr(owner, "base", None)
        return None

    def memory(self, name: str, shape: Shape, dtype: DTypeLike) -> Array:
        size = max(prod(shape) * np.dtype(dtype).itemsize, 1)
        owner = np.empty(size, np.uint8)
        self.keep.append(owner)
        self.roots[id(owner)] = name
        self.sizes[name], self.spans[name] = size, (self.index, self.index)
        return np.ndarray(shape, dtype, owner)

    def join(self, name: str, shape: Shape, dtype: DTypeLike) -> Array | None:
        if name in self.schedule.joins and self.joinable(name, shape, dtype):
            self.joined_names.add(name)
            self.plan = Plan(joined=frozenset(self.joined_names))
        return super().join(name, shape, dtype)

    def joinable(self, name: str, shape: Shape, dtype: DTypeLike) -> bool:
        """Every other input is there, and the value is one contiguous piece of the whole."""
        concat, position = self.schedule.joins[name]
        axis = concat.attributes["axis"] % len(shape)
        others = [self.values.get(other) for i, other in enumerate(concat.inputs) if i != position]
        if prod(shape[:axis]) != 1 or any(other is None or other.dtype != np.dtype(dtype) for other in others):
            return False
        return concat.outputs[0] not in self.schedule.orders

    def overwritten(self, name: str, shape: Shape, dtype: DTypeLike, reuse: Sequence[Array]) -> Array | None:
        for position, input_name in enumerate(self.node.inputs):
            x = self.values.get(input_name)
            if x is None or not any(x is y for y in reuse) or x.shape != shape or x.dtype != np.dtype(dtype):
                continue
            if self.dies(x) and 0 not in x.strides:
                self.in_place[name] = position
                return x
        return None

    def dies(self, x: Array) -> bool:
        """Whether nothing reads the memory of x after this node, and no other input shares it."""
        root = self.root(x)
        if root is None or self.spans[root][1] > self.index:
            return False
        others = [self.values[name] for name in self.node.inputs if name and self.values[name] is not x]
        return all(self.root(other) != root for other in others)

    def reshaped(self, x: Array, shape: Shape) -> Array:
        if view_as(x, shape) is not None:
            self.views.add(self.node.outputs[0])
            self.plan = Plan(joined=frozenset(self.joined_names), views=frozenset(self.views))
        return super().reshaped(x, shape)

    def joined(self, inputs: tuple[Array, ...], axis: int) -> tuple[Array, frozenset[int]]:
        root = self.root(inputs[0])
        same = root is not None and all(self.root(x) == root for x in inputs)
        if same and neighbours(inputs, axis) is not None and self.node.outputs[0] not in self.prefilled:
            self.views.add(self.node.outputs[0])
            self.plan = Plan(joined=frozenset(self.joined_names), views=frozenset(self.views))
        return super().joined(inputs, axis)
