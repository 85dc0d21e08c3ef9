"""What planning makes of a graph: all that a program needs in order to be placed and bound, without its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .binding import Plan
from .dims import check_dims, sizes, state_pairs
from .graph import Graph, ValueInfo
from .kernels.operator import Array
from .rehearsal import Rehearsal
from .rewrite import rewrite
from .schedule import ALL, SIZES, Schedule, schedule


@dataclass(frozen=True)
class Compiled:
    """A graph rewritten, scheduled and planned for the longest sizes."""

    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    metadata: Mapping[str, str]
    max_dims: Mapping[str, int]
    schedule: Schedule
    plan: Plan
    constants: Mapping[str, Array] = field(repr=False)
    running: frozenset[str]
    """Names of the values that steps read; the other constants serve binding only."""


def compile_graph(
    graph: Graph, max_dims: Mapping[str, int] | None = None, weights: str = "float32"
) -> Compiled:
    """Plan `graph` for the longest value of each named size. Raises ModelError where it cannot be run.

    `weights`: INT8 weights are expanded at load ("float32"), or kept and expanded at each run ("int8").
    """
    longest = check_dims(graph, max_dims or {})
    states = state_pairs(graph.inputs, graph.outputs)
    nodes, constants = rewrite(graph, weights)
    order = schedule(nodes, graph, states)
    state_inputs = {before.name for before, _ in states.values()}
    values = dict(constants)
    for value in graph.inputs:
        values[value.name] = np.empty(sizes(value, longest), value.dtype)
    rehearsal = Rehearsal(order, values, set(constants))
    rehearsal.add_inputs([value.name for value in graph.inputs if value.name not in state_inputs])
    rehearsal.bind_all()
    running = _running(order, graph, rehearsal.known_names)
    plan = rehearsal.finish()
    return Compiled(graph.inputs, graph.outputs, graph.metadata, longest, order, plan, constants, running)


def _running(order: Schedule, graph: Graph, known: set[str]) -> frozenset[str]:
    """The names that nodes read as they run, not only as they are bound."""
    read = {value.name for value in graph.outputs}
    for node in order.nodes:
        if node.operator not in SIZES and not (node.outputs and node.outputs[0] in known):
            shapes = ALL[node.operator].shape_inputs
            read.update(name for position, name in enumerate(node.inputs) if position not in shapes)
    return frozenset(read)
