"""Graph rewriting, done once per program: constants folded, duplicates merged, patterns fused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from ..errors import ModelError
from .compact import fuse_blocks, keep_int8
from .graph import Graph
from .kernels import FUSED, OPERATORS
from .kernels.conv import prepare
from .kernels.operator import Array, Node

Nodes = list[Node]
Constants = dict[str, Array]

LINEAR = {"Linear": 2, "BlockLinear": 2, "Int8Linear": 3}
"""Linear layers, and how many inputs they have without a bias."""
SMALL_BYTES = 1024
"""Constants up to this size are compared by value when duplicates are merged."""


WEIGHTS = ("float32", "int8")
"""How INT8 weights lie in memory: expanded once, at load, or as they are, expanded at each run."""


def rewrite(graph: Graph, weights: str = "float32") -> tuple[Nodes, Constants]:
    """Nodes and constants of an equal but shorter graph; `weights`: one of WEIGHTS."""
    outputs = {value.name for value in graph.outputs}
    nodes, constants = list(graph.nodes), dict(graph.constants)
    if weights == "int8":
        nodes, constants = prune(keep_int8(nodes, constants, outputs), constants, outputs)
    nodes, constants = fold(nodes, constants)
    nodes, constants = merge(nodes, constants, outputs)
    nodes = fuse_blocks(nodes, constants, outputs)
    nodes = [prepare_weights(node, constants) for node in nodes]
    for pattern in (fuse_bias, fuse_relu, absorb_scale):
        nodes = pattern(nodes, constants, outputs)
    return prune(nodes, constants, outputs)


def fold(nodes: Iterable[Node], constants: Constants) -> tuple[Nodes, Constants]:
    """Evaluates every node whose inputs are constants (an int8 weight's DequantizeLinear among them)."""
    rest = []
    for node in nodes:
        if any(name and name not in constants for name in node.inputs):
            rest.append(node)
        else:
            constants.update(zip(node.outputs, evaluate(node, constants), strict=False))
    return rest, constants


def evaluate(node: Node, values: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of a node by its reference implementation."""
    operator = OPERATORS.get(node.operator) or FUSED[node.operator]
    inputs = [values[name] if name else None for name in node.inputs]
    try:
        result = operator.reference(node.attributes, *inputs)
    except (ValueError, IndexError, TypeError, KeyError, AttributeError, ZeroDivisionError) as error:
        raise ModelError(f"node '{node.name}' ({node.operator}) cannot be computed: {error}") from error
    return result if isinstance(result, tuple) else (result,)


def merge(nodes: Nodes, constants: Constants, outputs: set[str]) -> tuple[Nodes, Constants]:
    """One node for all that compute the same, one name for small equal constants."""
    rename: dict[str, str] = {}
    seen_values: dict[object, str] = {}
    for name, value in constants.items():
        if value.nbytes <= SMALL_BYTES and name not in outputs:
            rename[name] = seen_values.setdefault((value.dtype.str, value.shape, value.tobytes()), name)
    seen: dict[object, Node] = {}
    rest = []
    for node in nodes:
        node = replace(node, inputs=tuple(rename.get(name, name) for name in node.inputs))
        key = (node.operator, node.inputs, len(node.outputs), repr(sorted(node.attributes.items())))
        twin = seen.setdefault(key, node)
        if twin is node or outputs & {*node.outputs, *twin.outputs}:
            rest.append(node)
        else:
            rename.update(zip(node.outputs, twin.outputs, strict=True))
    return rest, constants


def prepare_weights(node: Node, constants: Constants) -> Node:
    """Brings weights into the layout the kernels read, and drops scales of one and biases of zero."""
    if node.operator == "Conv":
        return prepare_conv(node, constants)
    if node.operator == "Gemm" and plain_gemm(node, constants):
        return prepare_gemm(node, constants)
    if node.operator == "MatMul" and constants.get(node.inputs[1], np.empty(0)).ndim == 2:
        return replace(node, operator="Linear")
    if node.operator == "LayerNormalization":
        return drop_trivial(node, constants)
    return node


def prepare_conv(node: Node, constants: Constants) -> Node:
    weight = constants.get(node.inputs[1])
    if weight is None or weight.ndim != 3:
        raise ModelError(f"node '{node.name}': Conv must be one-dimensional, with constant weights")
    operator, prepared = prepare(weight, node.attributes.get("group", 1))
    name = f"{node.inputs[1]}:{operator}{node.attributes.get('group', 1)}"
    constants[name] = prepared
    return replace(node, operator=operator, inputs=(node.inputs[0], name, *node.inputs[2:]))


def plain_gemm(node: Node, constants: Constants) -> bool:
    given, bias = node.attributes, node.inputs[2] if len(node.inputs) > 2 else ""
    factors = (given.get("alpha", 1.0), given.get("beta", 1.0), given.get("transA", 0))
    known = node.inputs[1] in constants and (not bias or bias in constants)
    return known and factors == (1.0, 1.0, 0) and (not bias or constants[bias].ndim <= 1)


def prepare_gemm(node: Node, constants: Constants) -> Node:
    name = node.inputs[1]
    if node.attributes.get("transB", 0):
        name = f"{name}:T"
        constants[name] = np.ascontiguousarray(constants[node.inputs[1]].T)
    return replace(node, operator="Linear", inputs=(node.inputs[0], name, *node.inputs[2:]), attributes={})


def drop_trivial(node: Node, constants: Constants) -> Node:
    """LayerNormalization without a scale of ones and a bias of zeros, as torch writes it without affine."""
    inputs = [*node.inputs, "", ""][:3]
    scale, bias = constants.get(inputs[1]), constants.get(inputs[2])
    if scale is not None and (scale == 1).all():
        inputs[1] = ""
    if bias is not None and not bias.any():
        inputs[2] = ""
    return replace(node, inputs=tuple(inputs))


def readers(nodes: Nodes, outputs: set[str]) -> Counter[str]:
    """How often each value is read; a graph output counts as one more."""
    return Counter([name for node in nodes for name in node.inputs] + list(outputs))


def fuse_bias(nodes: Nodes, constants: Constants, outputs: set[str]) -> Nodes:
    """A linear layer, then Add of a constant row -> the layer with bias."""
    makers = {name: node for node in nodes for name in node.outputs}
    reads = readers(nodes, outputs)
    dropped: set[str] = set()
    rest = []
    for node in nodes:
        fused = biased(node, makers, constants) if node.operator == "Add" else None
        if fused and reads[fused[0].outputs[0]] == 1:
            linear, bias = fused
            dropped.add(linear.name + linear.outputs[0])
            node = replace(linear, name=node.name, inputs=(*linear.inputs, bias), outputs=node.outputs)
        rest.append(node)
    return [node for node in rest if node.name + node.outputs[0] not in dropped]


def biased(add: Node, makers: dict[str, Node], constants: Constants) -> tuple[Node, str] | None:
    for product, bias in (add.inputs, add.inputs[::-1]):
        linear = makers.get(product)
        bare = linear is not None and len(linear.inputs) == LINEAR.get(linear.operator)
        if linear and bare and bias in constants:
            outputs = outputs_of(constants[linear.inputs[1]])
            if constants[bias].shape == (outputs,):
                return linear, bias
    return None


def outputs_of(weight: Array) -> int:
    """Outputs of a linear layer with weights (K, N), or (B, K, V) in blocks."""
    return weight.shape[-1] * (weight.shape[0] if weight.ndim == 3 else 1)


def fuse_relu(nodes: Nodes, constants: Constants, outputs: set[str]) -> Nodes:
    """A linear layer, then Relu -> the layer with activation."""
    reads = readers(nodes, outputs)
    relus = {node.inputs[0]: node for node in nodes if node.operator == "Relu" and reads[node.inputs[0]] == 1}
    rest, dropped = [], set()
    for node in nodes:
        relu = relus.get(node.outputs[0]) if node.operator in LINEAR else None
        if relu:
            attributes = {**node.attributes, "activation": "Relu"}
            node = replace(node, outputs=relu.outputs, attributes=attributes)
            dropped.add(relu.outputs[0])
        elif node.outputs[0] in dropped:
            continue
        rest.append(node)
    return rest


def absorb_scale(nodes: Nodes, constants: Constants, outputs: set[str]) -> Nodes:
    """LayerNormalization's scale and bias move into the Linear layers that alone read it."""
    users: dict[str, Nodes] = {}
    for node in nodes:
        for name in node.inputs:
            users.setdefault(name, []).append(node)
    changed: dict[str, Node] = {}
    for norm in nodes:
        if (
            norm.operator != "LayerNormalization"
            or norm.outputs[0] in outputs
            or not (norm.inputs[1] or norm.inputs[2])
        ):
            continue
        linear = users.get(norm.outputs[0], [])
        parameters = [name for name in norm.inputs[1:] if name]
        fits = norm.attributes.get("axis", -1) == -1 and all(name in constants for name in parameters)
        if fits and linear and all(n.operator == "Linear" and n.inputs[0] == norm.outputs[0] for n in linear):
            for node in linear:
                changed[node.outputs[0]] = scaled_linear(node, norm, constants)
            changed[norm.outputs[0]] = replace(norm, inputs=(norm.inputs[0], "", ""))
    return [changed.get(node.outputs[0], node) for node in nodes]


def scaled_linear(linear: Node, norm: Node, constants: Constants) -> Node:
    """(n * scale + shift) W + b  =  n (scale W) + (shift W + b)."""
    _, scale, shift = norm.inputs
    weight = constants[linear.inputs[1]].astype(np.float64)
    bias = constants[linear.inputs[2]].astype(np.float64) if len(linear.inputs) > 2 else 0
    name = f"{linear.outputs[0]}:weight"
    constants[name] = (weight * constants[scale][:, None] if scale else weight).astype(np.float32)
    inputs: tuple[str, ...] = (linear.inputs[0], name)
    if shift or len(linear.inputs) > 2:
        row = constants[shift] @ weight + bias if shift else np.asarray(bias)
        constants[f"{linear.outputs[0]}:bias"] = row.astype(np.float32)
        inputs = (*inputs, f"{linear.outputs[0]}:bias")
    return replace(linear, inputs=inputs)


def prune(nodes: Nodes, constants: Constants, outputs: set[str]) -> tuple[Nodes, Constants]:
    """Without nodes and constants that no output needs."""
    needed = set(outputs)
    kept = []
    for node in reversed(nodes):
        if needed & set(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    return kept[::-1], {name: value for name, value in constants.items() if name in needed}
