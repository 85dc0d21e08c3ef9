"""The first binding, for the longest sizes, over memory that nobody touches: it makes the plan."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import ModelError
from .binding import Binder, Plan
from .kernels.layout import neighbours, view_as
from .kernels.operator import Array, Node, Shape
from .plan import Block, greedy
from .schedule import ALL, SIZES, Schedule

KNOWN_BYTES = 65536
"""A value made of sizes and constants is computed at bind time up to this size, in the arena beyond it."""


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
            greedy(blocks),
            blocks,
            self.in_place,
            frozenset(self.joined_names),
            frozenset(self.views),
            frozenset(self.running),
        )

    def add_inputs(self, names: Sequence[str]) -> None:
        """Graph inputs keep their content for the whole run."""
        for name in names:
            x = self.values[name]
            self.values[name] = self.memory(name, x.shape, x.dtype)
            self.spans[name] = (-1, len(self.schedule.nodes))

    def bind_node(self, index: int, node: Node) -> None:
        self.index = index
        self.check_known(node)
        super().bind_node(index, node)
        if node.outputs and node.outputs[0] in self.known_names and self.too_large(node):
            self.running.add(node.outputs[0])
            self.known_names.difference_update(node.outputs)
            super().bind_node(index, node)
        if not node.outputs or node.outputs[0] not in self.known_names:
            for name in node.outputs:
                self.lodge(name)

    def check_known(self, node: Node) -> None:
        """Shapes, bounds and ranges must follow from sizes and constants, not from data."""
        operator = ALL[node.operator]
        positions = range(len(node.inputs)) if operator.bind is None else operator.shape_inputs
        for name in (node.inputs[i] for i in positions if i < len(node.inputs)):
            if name and name not in self.known_names and node.operator not in SIZES:
                raise ModelError(
                    f"node '{node.name}' ({node.operator}) takes its shape from '{name}', made of data"
                )

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
        if prod(shape[:axis]) != 1 or any(
            other is None or other.dtype != np.dtype(dtype) for other in others
        ):
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

    def repeated(self, row: Array, count: int) -> Array:
        return row

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
