"""A graph made ready to run: planned for the longest sizes, bound to views, run as a flat list of calls."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from ..errors import ModelError
from .binding import Binder, Step
from .compiled import Compiled, compile_graph
from .dims import STATE_IN, check_memory, lay_out, nbytes, sizes, state_pairs, view
from .graph import Graph
from .kernels.operator import Array

MAX_BINDINGS = 32
"""Bindings kept, the least recently used goes first."""


class Bound:
    """A program with sizes, memory and state: write `inputs`, call run(), read `outputs`."""

    __slots__ = ("inputs", "outputs", "state", "steps")

    def __init__(
        self, inputs: dict[str, Array], outputs: dict[str, Array], state: dict[str, Array], steps: list[Step]
    ) -> None:
        self.inputs = inputs
        """Views to write before each run(); another binding of the program may use the same bytes."""
        self.outputs = outputs
        """Views to read after run(), until the next run of any binding."""
        self.state = state
        """Views of the session's slot, one a state."""
        self.steps = steps

    def run(self) -> None:
        for kernel, args in self.steps:
            kernel(*args)


class Program:
    """A graph specialised to a range of sizes.

    `max_dims` gives the longest value of each named size. Raises ModelError where the graph cannot be run.
    """

    def __init__(
        self, graph: Graph | Compiled, max_dims: Mapping[str, int] | None = None, weights: str = "float32"
    ) -> None:
        """`graph` as read, or as compiled before, which needs no more; else see `compile_graph`."""
        compiled = graph if isinstance(graph, Compiled) else compile_graph(graph, max_dims, weights)
        self.inputs, self.outputs, self.metadata = compiled.inputs, compiled.outputs, compiled.metadata
        self.max_dims = dict(compiled.max_dims)
        self._states = state_pairs(self.inputs, self.outputs)
        self.state_names = tuple(self._states)
        """States, each an input NAME_in and an output NAME_out."""
        self._state_slots, self.state_bytes = lay_out(
            {
                name: nbytes(sizes(before, self.max_dims), before.dtype)
                for name, (before, _) in self._states.items()
            }
        )
        self._schedule, self._plan = compiled.schedule, compiled.plan
        self._constants: Mapping[str, Array] = compiled.constants
        self.arena_bytes = self._plan.arena_bytes
        self._weight_slots, self.weight_bytes = lay_out(
            {name: x.nbytes for name, x in self._constants.items() if name in compiled.running}
        )
        self._arena: Array | None = None
        self._full_rows: dict[tuple[int, int], Array] = {}
        self._bindings: OrderedDict[object, Bound] = OrderedDict()

    def place(self, weights: Array, arena: Array) -> None:
        """Copies weights into `weights` (uint8, >= weight_bytes), takes `arena` (uint8, >= arena_bytes).

        Both should begin on a 64-byte boundary. Afterwards nothing points into the graph's file.
        """
        check_memory("weights", weights, self.weight_bytes)
        check_memory("arena", arena, self.arena_bytes)
        placed = {}
        for name, value in self._constants.items():
            slot = self._weight_slots.get(name)
            copy = (
                np.empty(value.shape, value.dtype)
                if slot is None
                else view(weights, slot, value.shape, value.dtype)
            )
            copy[...] = value
            placed[name] = copy
        self._constants, self._arena = placed, arena
        self._bindings.clear()
        self._full_rows.clear()

    def bind(self, dims: Mapping[str, int] | None = None, state: Array | None = None) -> Bound:
        """Views and steps for these sizes and this session's slot (uint8, >= state_bytes; zeros to begin).

        Raises ModelError for sizes beyond max_dims. Bindings are kept, so a second call is a look-up.
        """
        dims = dims or {}
        where = 0 if state is None else state.__array_interface__["data"][0]
        key = (where, *sorted(dims.items()))
        bound = self._bindings.get(key)
        if bound is None:
            bound = self._bindings[key] = self._bind(dims, state)
            if len(self._bindings) > MAX_BINDINGS:
                self._bindings.popitem(last=False)
        else:
            self._bindings.move_to_end(key)
        return bound

    def _bind(self, dims: Mapping[str, int], state: Array | None) -> Bound:
        if self._arena is None:
            raise ModelError("the program has no memory yet; call place(weights, arena) before bind()")
        self._check_range(dims)
        states = self._bind_state(dims, state)
        values = {**self._constants, **{f"{name}{STATE_IN}": array for name, array in states.items()}}
        binder = Binder(
            self._schedule, self._plan, self._arena, values, set(self._constants), self._full_rows
        )
        inputs = {}
        for value in self.inputs:
            if value.name not in values:
                inputs[value.name] = values[value.name] = binder.memory(
                    value.name, sizes(value, dims), value.dtype
                )
        binder.bind_all()
        outputs = {
            value.name: values[value.name] for value in self.outputs if value.name not in self._new_states()
        }
        return Bound(inputs, outputs, states, binder.steps)

    def _new_states(self) -> set[str]:
        return {after.name for _, after in self._states.values()}

    def _bind_state(self, dims: Mapping[str, int], state: Array | None) -> dict[str, Array]:
        if not self._states:
            return {}
        if state is None:
            raise ModelError(
                f"this graph keeps a state of {self.state_bytes} bytes; give bind() a uint8 array for it"
            )
        check_memory("state", state, self.state_bytes)
        return {
            name: view(state, self._state_slots[name], sizes(before, dims), before.dtype)
            for name, (before, _) in self._states.items()
        }

    def _check_range(self, dims: Mapping[str, int]) -> None:
        if dims.keys() != self.max_dims.keys():
            raise ModelError(f"bind() needs sizes for {sorted(self.max_dims)}, got {sorted(dims)}")
        for name, size in dims.items():
            if not 1 <= size <= self.max_dims[name]:
                raise ModelError(
                    f"{name}={size} is outside 1..{self.max_dims[name]}; raise max_dims of the Program"
                )
