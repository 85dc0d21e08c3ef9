"""The compact form of a graph's weights, in standard ONNX operators that any runtime executes.

INT8 weights are rows that share a scale, for an output and a group of its inputs: DequantizeLinear (axis 0), Reshape,
Transpose. All of it is constant, so an engine expands it once, at load. A MatMul whose weights are 2:4 stores only
the two of each four inputs that are read: Gather (its indices by block of outputs), MatMul batched over blocks,
Transpose, Reshape. Half-precision weights are a Cast. A weight's consumers find it under its old name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from .prune import FEWEST_OUTPUTS, GROUP, KEPT, is_pruned, prunable

Floats = NDArray[np.float32]
FEWEST_WEIGHTS = 4096
"""Smaller tensors stay float32: their bytes do not count, their precision may."""
GROUP_INPUTS = 16
"""Most inputs that share a scale. Scales are float16, so that this costs an eighth of the INT8 weights' bytes."""
TINY_SCALE = np.float32(1e-6)
"""Least scale: float16 holds it, and rows of zeros need one."""
STORED = ("int8", "float16", "float32")
ROW_AXIS = {"MatMul": 1, "Gemm": 1, "Conv": 0, "Gather": 0}
"""Axis of a weight along which its outputs lie."""


@dataclass(frozen=True)
class Layer:
    """A constant weight of a graph and the nodes that multiply by it."""

    name: str
    """Of the initializer."""
    operator: str
    nodes: tuple[str, ...]
    """First output of each node that reads it."""
    inputs: tuple[str, ...]
    """What those nodes multiply it by."""
    shape: tuple[int, ...]
    row_axis: int

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def title(self) -> str:
        """A readable name: that of the value it makes."""
        return self.nodes[0].strip("/").removesuffix("_output_0").replace("/", ".")


@dataclass(frozen=True)
class Pattern:
    """Which inputs each block of outputs reads: index (blocks, inputs read), ascending."""

    outputs: int
    """Outputs of a block."""
    index: NDArray[np.int64]


def find_layers(model: onnx.ModelProto) -> dict[str, Layer]:
    """Layers by the name of their weight: MatMul, Gemm, Conv and embeddings (Gather) with large constants."""
    tensors = {t.name: t for t in model.graph.initializer if np.prod(t.dims) >= FEWEST_WEIGHTS}
    uses: dict[str, list[NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            if name in tensors:
                uses.setdefault(name, []).append(node)
    found = {}
    for name, nodes in uses.items():
        operator, axis = nodes[0].op_type, row_axis(nodes[0], tensors[name])
        same = all(
            n.op_type == operator and weight_name(n) == name and row_axis(n, tensors[name]) == axis
            for n in nodes
        )
        if same and axis is not None and tensors[name].data_type == TensorProto.FLOAT:
            made, read = (
                (n.output[0] for n in nodes),
                (n.input[1 if operator == "Gather" else 0] for n in nodes),
            )
            found[name] = Layer(name, operator, tuple(made), tuple(read), tuple(tensors[name].dims), axis)
    return found


def weight_name(node: NodeProto) -> str:
    return str(node.input[0 if node.op_type == "Gather" else 1])


def row_axis(node: NodeProto, tensor: TensorProto) -> int | None:
    """Axis of outputs in a node's weight; None where the node is no layer."""
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    rank, operator = len(tensor.dims), node.op_type
    if operator == "Gemm" and not given.get("transA", 0) and rank == 2:
        return 0 if given.get("transB", 0) else 1
    if (operator == "MatMul" and rank == 2) or (
        operator == "Gather" and rank == 2 and not given.get("axis", 0)
    ):
        return ROW_AXIS[operator]
    return 0 if operator == "Conv" else None


def values_of(model: onnx.ModelProto, layer: Layer) -> Floats:
    """A layer's weights as rows (outputs, inputs), float32."""
    tensor = next(t for t in model.graph.initializer if t.name == layer.name)
    return rows_of(layer, numpy_helper.to_array(tensor))


def rows_of(layer: Layer, weight: Floats) -> Floats:
    turned = np.moveaxis(weight, layer.row_axis, 0)
    return np.ascontiguousarray(turned.reshape(len(turned), -1), np.float32)


def weight_of(layer: Layer, rows: Floats) -> Floats:
    """Rows (outputs, inputs) as the layer's node reads them."""
    shape = layer.shape
    turned = (shape[layer.row_axis], *(s for i, s in enumerate(shape) if i != layer.row_axis))
    return np.ascontiguousarray(np.moveaxis(rows.reshape(turned), 0, layer.row_axis))


def patterns_of(model: onnx.ModelProto) -> dict[str, Pattern]:
    """The 2:4 pattern of every MatMul that has one."""
    layers = (x for x in find_layers(model).values() if x.operator == "MatMul")
    found = {x.name: find_pattern(values_of(model, x)) for x in layers}
    return {name: pattern for name, pattern in found.items() if pattern}


def set_values(model: onnx.ModelProto, layer: Layer, rows: Floats) -> None:
    """Put other weights in a layer's place."""
    tensor = next(t for t in model.graph.initializer if t.name == layer.name)
    tensor.CopyFrom(numpy_helper.from_array(weight_of(layer, rows), layer.name))


def find_pattern(rows: Floats) -> Pattern | None:
    """The 2:4 pattern of weights (N, K) with the largest blocks that fit; None where they are not 2:4."""
    weight = torch.from_numpy(rows.copy())
    count, inputs = rows.shape
    if not prunable(inputs):
        return None
    for outputs in (d for d in range(count, min(FEWEST_OUTPUTS, count) - 1, -1) if count % d == 0):
        if is_pruned(weight, outputs):
            sums = np.abs(rows).reshape(count // outputs, outputs, -1, GROUP).sum(1)
            kept = np.sort(np.argsort(-sums, -1, kind="stable")[..., :KEPT], -1)
            index = kept + GROUP * np.arange(inputs // GROUP)[:, None]
            return Pattern(outputs, index.reshape(count // outputs, -1).astype(np.int64))
    return None


def read_rows(rows: Floats, pattern: Pattern) -> Floats:
    """What a sparse layer stores of its weights (N, K): (N, K / 2)."""
    blocks = rows.reshape(len(pattern.index), pattern.outputs, -1)
    read = np.take_along_axis(blocks, pattern.index[:, None], 2)
    return np.ascontiguousarray(read.reshape(len(rows), -1))


def group_size(inputs: int, most: int = GROUP_INPUTS) -> int:
    """Inputs that share a scale: the largest divisor up to `most`; all of them where there is none worth it."""
    size = max(d for d in range(1, most + 1) if inputs % d == 0)
    return size if size * 2 >= most else inputs


def quantise_rows(rows: Floats, group: int) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """INT8 weights (rows · groups, group) and a scale for each of its rows, chosen for the least squared error."""
    parts = rows.reshape(-1, group)
    top = np.abs(parts).max(1)
    best, error = np.zeros_like(top), np.full(top.shape, np.inf, np.float32)
    for clip in (1.0, 0.97, 0.94, 0.91, 0.88, 0.85, 0.8):
        scale = np.maximum(top * np.float32(clip / 127), TINY_SCALE).astype(np.float16).astype(np.float32)
        made = np.clip(np.rint(parts / scale[:, None]), -127, 127) * scale[:, None]
        off = np.square(made - parts).sum(1)
        best, error = np.where(off < error, scale, best), np.minimum(off, error)
    whole = np.clip(np.rint(parts / best[:, None]), -127, 127).astype(np.int8)
    return whole, best.astype(np.float16)


@dataclass
class Edit:
    """Nodes and constants that a rewriting adds."""

    before: list[NodeProto]
    """Nodes of constants alone, to stand first."""
    constants: list[TensorProto]

    def constant(self, name: str, value: NDArray[np.generic] | Sequence[int]) -> str:
        array = np.asarray(value, np.int64) if isinstance(value, list) else np.asarray(value)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def chain(self, steps: Sequence[tuple[str, list[str], dict[str, Any]]], name: str) -> None:
        """A row of nodes, each reading the one before; the last makes `name`."""
        value = ""
        for i, (operator, inputs, attributes) in enumerate(steps):
            made = name if i == len(steps) - 1 else f"{name}:{operator.lower()}"
            given = [value, *inputs] if value else inputs
            self.before.append(helper.make_node(operator, given, [made], f"{name}:{operator}", **attributes))
            value = made

    def store(self, name: str, rows: Floats, shape: Sequence[int], turn: Sequence[int], stored: str) -> None:
        """Constant nodes that make `name`: rows in `shape`, its axes then permuted by `turn`."""
        steps: list[tuple[str, list[str], dict[str, object]]] = []
        if stored == "int8":
            whole, scale = quantise_rows(rows, group_size(rows.shape[1]))
            half = self.constant(f"{name}:scale16", scale)
            self.chain([("Cast", [half], {"to": TensorProto.FLOAT})], f"{name}:scale")
            steps.append(
                ("DequantizeLinear", [self.constant(f"{name}:q", whole), f"{name}:scale"], {"axis": 0})
            )
            steps.append(("Reshape", [self.constant(f"{name}:shape", list(shape))], {}))
        else:
            kind = np.float16 if stored == "float16" else np.float32
            value = self.constant(f"{name}:half", rows.reshape(shape).astype(kind))
            steps.append(("Cast", [value], {"to": TensorProto.FLOAT}))
        if list(turn) != sorted(turn):
            steps.append(("Transpose", [], {"perm": list(turn)}))
        self.chain(steps, name)


def compact(
    model: onnx.ModelProto, stored: Mapping[str, str], patterns: Mapping[str, Pattern] | None = None
) -> onnx.ModelProto:
    """A model with weights stored as told (one of STORED by layer name), in sparse form where a pattern is given."""
    layers, edit = find_layers(model), Edit([], [])
    patterns = {n: p for n, p in (patterns or {}).items() if layers[n].operator == "MatMul"}
    ranks = input_ranks(model) if patterns else {}
    replaced: dict[str, list[NodeProto]] = {}
    gone: set[str] = set()
    for name, layer in layers.items():
        kind, rows = stored.get(name, "float32"), values_of(model, layer)
        if name in patterns:
            sparse = patterns[name]
            rank = ranks[layer.inputs[0]]
            _store_sparse(edit, name, rows, sparse, kind, rank)
            for made, read in zip(layer.nodes, layer.inputs, strict=True):
                replaced[made] = list(_sparse_nodes(name, made, read, len(sparse.index), rank))
        elif kind != "float32":
            _store_dense(edit, layer, rows, kind)
        else:
            continue
        gone.add(name)
    return _rebuilt(model, edit, replaced, gone)


def _store_dense(edit: Edit, layer: Layer, rows: Floats, kind: str) -> None:
    turned = (layer.shape[layer.row_axis], *(s for i, s in enumerate(layer.shape) if i != layer.row_axis))
    turn = [0, *range(1, len(turned))] if layer.row_axis == 0 else [1, 0]
    edit.store(layer.name, rows, turned, turn, kind)


def _store_sparse(edit: Edit, name: str, rows: Floats, sparse: Pattern, kind: str, rank: int) -> None:
    """Weights (blocks, K / 2, V), or (K / 2, N) where there is one block, the Gather's index, the merged shape."""
    blocks, read = sparse.index.shape
    shape, turn = (
        ([sparse.outputs, read], [1, 0]) if blocks == 1 else ([blocks, sparse.outputs, read], [0, 2, 1])
    )
    edit.store(name, read_rows(rows, sparse), shape, turn, kind)
    index = sparse.index[0] if blocks == 1 else sparse.index
    edit.constant(f"{name}:index", index.astype(np.int32))
    if blocks > 1:
        edit.constant(f"{name}:merged", [0] * (rank - 1) + [len(rows)])


def _sparse_nodes(name: str, made: str, read: str, blocks: int, rank: int) -> Iterator[NodeProto]:
    """The nodes that stand for one MatMul of an input of so many axes."""
    own = made.removesuffix("_output_0")

    def node(operator: str, inputs: list[str], output: str, **attributes: Any) -> NodeProto:
        return helper.make_node(operator, inputs, [output], f"{own}:{operator}:{output[-1]}", **attributes)

    yield node("Gather", [read, f"{name}:index"], f"{own}:0", axis=rank - 1)
    if blocks == 1:
        yield node("MatMul", [f"{own}:0", name], made)
        return
    swap = [*range(rank - 2), rank - 1, rank - 2, rank]
    yield node("Transpose", [f"{own}:0"], f"{own}:1", perm=swap)
    yield node("MatMul", [f"{own}:1", name], f"{own}:2")
    yield node("Transpose", [f"{own}:2"], f"{own}:3", perm=swap)
    yield node("Reshape", [f"{own}:3", f"{name}:merged"], made)


def input_ranks(model: onnx.ModelProto) -> dict[str, int]:
    """Rank of every value whose shape can be inferred."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    known = [
        v for v in (*graph.value_info, *graph.input, *graph.output) if v.type.tensor_type.HasField("shape")
    ]
    return {v.name: len(v.type.tensor_type.shape.dim) for v in known}


def _rebuilt(
    model: onnx.ModelProto, edit: Edit, replaced: Mapping[str, list[NodeProto]], gone: set[str]
) -> onnx.ModelProto:
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    nodes = [n for old in model.graph.node for n in replaced.get(old.output[0] if old.output else "", [old])]
    del graph.node[:], graph.initializer[:], graph.value_info[:]
    graph.node.extend([*edit.before, *nodes])
    graph.initializer.extend([t for t in model.graph.initializer if t.name not in gone])
    graph.initializer.extend(edit.constants)
    onnx.checker.check_model(made)
    return made
