"""What can be said about a graph from its structure alone: order, lifetimes, states, layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ModelError
from .graph import Graph, ValueInfo
from .kernels import FUSED, OPERATORS
from .kernels.operator import Node, Operator
from .rewrite import Nodes

SIZES = ("Shape", "Size")
"""Operators that read the size of a value, never its content."""
ALL: dict[str, Operator] = {**OPERATORS, **FUSED}


@dataclass(frozen=True)
class Schedule:
    """Nodes in order of execution, and what the planner must know about their values."""

    nodes: tuple[Node, ...]
    last_use: Mapping[str, int]
    """Index of the last node that reads a value's content; graph outputs live to the end."""
    demanded: frozenset[str]
    """Values whose content must be known when sizes are: reshape targets, ranges, bounds."""
    joins: Mapping[str, tuple[Node, int]]
    """Values that may be made right inside a Concat's output: the Concat, and the position there."""
    orders: Mapping[str, tuple[int, ...]]
    """Values read by one Transpose only: the axis order in which they should lie in memory."""


def schedule(nodes: Nodes, graph: Graph, states: Mapping[str, tuple[ValueInfo, ValueInfo]]) -> Schedule:
    nodes = store_states(nodes, graph, states)
    end = len(nodes)
    last_use = {
        name: index for index, node in enumerate(nodes) if node.operator not in SIZES for name in node.inputs
    }
    new_states = {after.name for _, after in states.values()}
    last_use.update({value.name: end for value in graph.outputs if value.name not in new_states})
    return Schedule(tuple(nodes), last_use, demanded(nodes), joins(nodes), orders(nodes, graph))


def store_states(nodes: Nodes, graph: Graph, states: Mapping[str, tuple[ValueInfo, ValueInfo]]) -> Nodes:
    """Adds a StoreState per state, as early as all readers of the old state allow."""
    alias = aliases(nodes, [before.name for before, _ in states.values()])
    nodes, rename = copy_aliased(nodes, graph, states, alias)
    stores: dict[int, Nodes] = {}
    for name, (before, after) in states.items():
        value = rename.get(after.name, after.name)
        touched = {value} | {key for key, state in alias.items() if before.name in state}
        last = max((i for i, node in enumerate(nodes) if touched & {*node.inputs, *node.outputs}), default=-1)
        stores.setdefault(last, []).append(Node("StoreState", name, (value, before.name), (), {}))
    ordered = list(stores.get(-1, []))
    for index, node in enumerate(nodes):
        ordered += [node, *stores.get(index, [])]
    return ordered


def aliases(nodes: Nodes, names: list[str]) -> dict[str, set[str]]:
    """Every value that may share memory with one of `names`, and with which."""
    alias = {name: {name} for name in names}
    for node in nodes:
        shared = alias.get(node.inputs[0], set()) if node.inputs and ALL[node.operator].view else set()
        for output in node.outputs:
            if shared:
                alias.setdefault(output, set()).update(shared)
    return alias


def copy_aliased(
    nodes: Nodes, graph: Graph, states: Mapping[str, tuple[ValueInfo, ValueInfo]], alias: dict[str, set[str]]
) -> tuple[Nodes, dict[str, str]]:
    """Outputs that are views of an old state are copied before any state is overwritten."""
    after = {new.name for _, new in states.values()}
    copies, rename = [], {}
    for value in graph.outputs:
        if value.name not in alias:
            continue
        if value.name not in after:
            raise ModelError(f"output '{value.name}' is a view of a state; export it through an operator")
        rename[value.name] = f"{value.name}:copy"
        copies.append(Node("Copy", value.name, (value.name,), (rename[value.name],), {}))
    return nodes + copies, rename


def demanded(nodes: Nodes) -> frozenset[str]:
    """The values that shape inputs need, traced back to sizes and constants."""
    names: set[str] = set()
    for node in reversed(nodes):
        operator = ALL[node.operator]
        if node.operator not in SIZES and (operator.bind is None or names & set(node.outputs)):
            names.update(node.inputs)
        names.update(node.inputs[i] for i in operator.shape_inputs if i < len(node.inputs))
    return frozenset(names - {""})


def joins(nodes: Nodes) -> dict[str, tuple[Node, int]]:
    """For each Concat the input made last, if a kernel makes it and everything else is there before."""
    made = {name: index for index, node in enumerate(nodes) for name in node.outputs}
    found: dict[str, tuple[Node, int]] = {}
    for node in nodes:
        if node.operator != "Concat" or len(node.inputs) < 2:
            continue
        times = [made.get(name, -1) for name in node.inputs]
        position = max(range(len(times)), key=times.__getitem__)
        name = node.inputs[position]
        alone = times.count(times[position]) == 1 and times[position] >= 0
        if alone and not ALL[nodes[times[position]].operator].view:
            found.setdefault(name, (node, position))
    return found


def orders(nodes: Nodes, graph: Graph) -> dict[str, tuple[int, ...]]:
    """The permutation of a value's only reader, a Transpose that leaves the last axis in its place."""
    users: dict[str, Nodes] = {}
    for node in nodes:
        for name in node.inputs:
            users.setdefault(name, []).append(node)
    kept = {value.name for value in graph.outputs}
    found = {}
    for name, nodes_ in users.items():
        perm = nodes_[0].attributes.get("perm") if nodes_[0].operator == "Transpose" else None
        if perm and perm[-1] == len(perm) - 1 and len(nodes_) == 1 and name not in kept:
            found[name] = tuple(perm)
    return found
