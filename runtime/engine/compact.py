"""The compact form of linear layers: blocks of outputs that gather their own inputs, and weights that stay INT8.

Files write a 2:4 layer in standard operators: Gather (the inputs each block reads), Transpose, MatMul with weights
(blocks, K / 2, V), Transpose, Reshape. Here everything after the Gather becomes one BlockLinear, so that a layer is
one take() and one batched matmul(). Weights are written as DequantizeLinear of rows that share a scale, Reshape,
Transpose; folding expands them at load, unless `keep_int8` has taken them out before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .kernels.operator import Array, Node
from .kernels.quantise import dequantise_reference
from .kernels.shape import reshape, transpose

Nodes = list[Node]
Constants = dict[str, Array]
KEPT_BYTES = 4096
"""Smaller weights are expanded even where weights are kept INT8: a step costs more than the bytes."""


def fuse_blocks(nodes: Nodes, constants: Constants, outputs: set[str]) -> Nodes:
    """MatMul with weights (B, K, V), Transpose, Reshape -> BlockLinear."""
    users = users_of(nodes, outputs)
    changed: dict[str, Node] = {}
    dropped: set[str] = set()
    for node in nodes:
        weight = constants.get(node.inputs[1]) if node.operator == "MatMul" else None
        tail = block_tail(node, weight.shape, users, constants) if weight is not None else None
        if tail:
            fused = replace(node, operator="BlockLinear", outputs=tail[1].outputs, attributes={})
            changed[tail[1].outputs[0]] = fused
            dropped |= {node.outputs[0], tail[0].outputs[0]}
    return [changed.get(n.outputs[0], n) for n in nodes if n.outputs[0] not in dropped]


def users_of(nodes: Nodes, outputs: set[str]) -> dict[str, list[Node | None]]:
    """Who reads each value; None stands for the graph's outputs."""
    users: dict[str, list[Node | None]] = {name: [None] for name in outputs}
    for node in nodes:
        for name in node.inputs:
            users.setdefault(name, []).append(node)
    return users


def block_tail(
    product: Node,
    shape: tuple[int, ...],
    users: Mapping[str, list[Node | None]],
    constants: Mapping[str, Array],
) -> tuple[Node, Node] | None:
    """The Transpose and the Reshape that make (..., T, B V) of (..., B, T, V), where nothing else reads on the way."""

    def only_user(node: Node, operator: str) -> Node | None:
        found = users.get(node.outputs[0], [])
        user = found[0] if len(found) == 1 else None
        return user if user and user.operator == operator and user.inputs[0] == node.outputs[0] else None

    turned = only_user(product, "Transpose") if len(shape) == 3 else None
    merged = only_user(turned, "Reshape") if turned else None
    if turned is None or merged is None or merged.inputs[1] not in constants:
        return None
    order, target = list(turned.attributes.get("perm", ())), constants[merged.inputs[1]].tolist()
    rank = len(order)
    swapped = [*range(rank - 3), rank - 2, rank - 3, rank - 1]
    fits = order == swapped and len(target) == rank - 1 and target[-1] in (shape[0] * shape[2], -1)
    free = not merged.attributes.get("allowzero", 0) and all(size == 0 for size in target[:-1])
    return (turned, merged) if rank > 2 and fits and free else None


def keep_int8(nodes: Nodes, constants: Constants, outputs: set[str]) -> Nodes:
    """MatMul whose weights come from INT8 -> Int8Linear, which expands them at each run."""
    makers = {name: node for node in nodes for name in node.outputs}
    users = users_of(nodes, outputs)
    changed: dict[str, Node] = {}
    dropped: set[str] = set()
    for node in nodes:
        stored = stored_int8(node.inputs[1], makers, constants) if node.operator == "MatMul" else None
        if stored is None or stored[0].nbytes < KEPT_BYTES:
            continue
        tail = block_tail(node, stored[0].shape, users, constants)
        if stored[0].ndim > 2 and tail is None:
            continue
        last = tail[1] if tail else node
        dropped |= {node.outputs[0], tail[0].outputs[0]} if tail else set()
        names = (f"{node.inputs[1]}:kept", f"{node.inputs[1]}:kept scale")  # names of the file end otherwise
        constants.update(zip(names, stored, strict=True))
        inputs = (node.inputs[0], *names)
        changed[last.outputs[0]] = replace(
            node, operator="Int8Linear", inputs=inputs, outputs=last.outputs, attributes={}
        )
    return [
        changed.get(n.outputs[0], n) for n in nodes if n.outputs[0] in changed or n.outputs[0] not in dropped
    ]


def stored_int8(
    name: str, makers: Mapping[str, Node], constants: Mapping[str, Array]
) -> tuple[Array, Array] | None:
    """INT8 weights (..., K, N) and their scales (..., K / g, N), where `name` is made of such; else None."""
    path: Nodes = []
    while name in makers and makers[name].operator in ("DequantizeLinear", "Reshape", "Transpose"):
        path.append(makers[name])
        name = path[-1].inputs[0]
    if not path or path[-1].operator != "DequantizeLinear" or name not in constants:
        return None
    given = path.pop()
    others = [constant_of(n, makers, constants) for n in given.inputs[1:] if n]
    if any(value is None for value in others):
        return None
    weight, (scale, *zero) = constants[name], [value for value in others if value is not None]
    if weight.dtype != np.int8 or any(z.any() for z in zero):
        return None
    scales = dequantise_reference(dict(given.attributes), np.ones_like(weight), scale)
    for node in reversed(path):
        if node.operator == "Transpose":
            weight, scales = (transpose(dict(node.attributes), x) for x in (weight, scales))
        elif node.inputs[1] in constants:
            weight, scales = (
                reshape(dict(node.attributes), x, constants[node.inputs[1]]) for x in (weight, scales)
            )
        else:
            return None
    return (np.ascontiguousarray(weight), shared(scales)) if weight.ndim in (2, 3) else None


def constant_of(name: str, makers: Mapping[str, Node], constants: Mapping[str, Array]) -> Array | None:
    """A constant, or what a Cast makes of one."""
    maker = makers.get(name)
    if maker and maker.operator == "Cast" and maker.inputs[0] in constants:
        return constants[maker.inputs[0]].astype(maker.attributes["dtype"])
    return constants.get(name)


def shared(scales: Array) -> Array:
    """A scale for every weight (..., K, N) -> one for each run of inputs that share it (..., K / g, N)."""
    inputs = scales.shape[-2]
    for group in sorted((g for g in range(1, inputs + 1) if inputs % g == 0), reverse=True):
        few = scales[..., ::group, :]
        if np.array_equal(np.repeat(few, group, -2), scales):
            return np.ascontiguousarray(few)
    return scales
