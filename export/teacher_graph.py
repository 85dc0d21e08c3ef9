"""Kokoro's INT8 ONNX graph with its weights expanded to float32, and its prosody as extra outputs.

The published graph quantises activations at run time (DynamicQuantizeLinear -> ConvInteger -> Cast -> Mul).
Only the weights' rounding is wanted, not the activations': each such chain becomes one float Conv or MatMul.
"""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper
from stonechat.errors import ModelError

PROSODY_TENSORS = (
    "/encoder/Cast_output_0",  # durations (1, N) int64, in units of 600 samples
    "/decoder/decoder/Unsqueeze_output_0",  # F0 (1, 1, T), Hz, every 300 samples
    "/decoder/decoder/Unsqueeze_1_output_0",  # energy (1, 1, T), log domain, every 300 samples
)
"""Inner tensors of Kokoro v1.0's export that the corpus keeps."""

Array = NDArray[np.float32]


def expand_weights(model: onnx.ModelProto) -> None:
    """Replace every dynamically quantised Conv, MatMul and LSTM in `model` by its float32 form, in place."""
    expansion = _Expansion(model.graph)
    for node in model.graph.node:
        expansion.expand(node)
    del model.graph.node[:]
    model.graph.node.extend(_needed(expansion.nodes, [output.name for output in model.graph.output]))
    used = {name for node in model.graph.node for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend([*kept, *expansion.weights])


def expose_prosody(model: onnx.ModelProto) -> None:
    """Append durations, F0 and energy to the graph's outputs. ModelError if it is not Kokoro v1.0's graph."""
    made = {name for node in model.graph.node for name in node.output}
    if missing := [name for name in PROSODY_TENSORS if name not in made]:
        lacks = ", ".join(missing)
        raise ModelError(f"not the expected Kokoro v1.0 graph (it lacks {lacks}): reinstall its packages")
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in PROSODY_TENSORS)


class _Expansion:
    """A walk over the quantised graph; `nodes` is the float graph, with dead nodes still in it."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._replaced: set[str] = set()
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._maker = {name: node for node in graph.node for name in node.output}
        self._users: dict[str, list[NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                self._users.setdefault(name, []).append(node)

    def expand(self, node: NodeProto) -> None:
        if node.op_type in ("ConvInteger", "MatMulInteger"):
            self._expand_product(node)
        elif node.op_type == "DynamicQuantizeLSTM":
            self._expand_lstm(node)
        elif node.output[0] not in self._replaced:
            self.nodes.append(node)

    def _expand_product(self, node: NodeProto) -> None:
        """ConvInteger | MatMulInteger [-> Add bias] -> Cast -> Mul scale, as one Conv | MatMul."""
        chain = [node]
        while chain[-1].op_type != "Mul":
            chain.append(self._users[chain[-1].output[0]][0])
        (scales,) = set(chain[-1].input) - {chain[-2].output[0]}
        weight_scale = next(name for name in self._maker[scales].input if name in self._constants)
        inputs = [
            self._maker[node.input[0]].input[0],
            self._dequantise(node.input[1], weight_scale, node.input[3]),
        ]
        if chain[1].op_type == "Add":
            inputs.append(self._float_bias(chain[1], node.output[0]))
        op_type = node.op_type.removesuffix("Integer")
        made = helper.make_node(op_type, inputs, [chain[-1].output[0]], chain[-1].name)
        made.attribute.extend(node.attribute)
        self.nodes.append(made)
        self._replaced.update(made.output)

    def _float_bias(self, add: NodeProto, product: str) -> str:
        """The bias as it was before it was divided by the scales, floored, cast and reshaped."""
        (name,) = set(add.input) - {product}
        while (maker := self._maker.get(name)) is not None:
            name = maker.input[0]
        return name

    def _expand_lstm(self, node: NodeProto) -> None:
        layer, weight, recurrence, *rest = node.input[:8]
        weight_scale, weight_zero, recurrence_scale, recurrence_zero = node.input[8:12]
        inputs = [
            layer,
            self._dequantise(weight, weight_scale, weight_zero, transpose=True),
            self._dequantise(recurrence, recurrence_scale, recurrence_zero, transpose=True),
            *rest,
        ]
        made = helper.make_node("LSTM", inputs, list(node.output), node.name)
        made.attribute.extend(node.attribute)
        self.nodes.append(made)

    def _dequantise(self, weight: str, scale: str, zero_point: str, transpose: bool = False) -> str:
        quantised, factor, zero = (
            numpy_helper.to_array(self._constants[name]).astype(np.float32)
            for name in (weight, scale, zero_point)
        )
        if transpose:  # LSTM: one scale a direction; the quantised form is stored input-major
            factor, zero = factor.reshape(-1, 1, 1), zero.reshape(-1, 1, 1)
        values: Array = (quantised - zero) * factor
        name = f"{weight}_float"
        if all(made.name != name for made in self.weights):
            values = np.ascontiguousarray(values.transpose(0, 2, 1)) if transpose else values
            self.weights.append(numpy_helper.from_array(values, name))
        return name


def _needed(nodes: list[NodeProto], outputs: list[str]) -> list[NodeProto]:
    """The nodes that `outputs` depend on, each after those it depends on itself."""
    maker = {name: node for node in nodes for name in node.output if name}
    ordered: list[NodeProto] = []
    seen: set[str] = set()
    stack = [(name, False) for name in outputs]
    while stack:
        name, ready = stack.pop()
        node = maker.get(name)
        if node is None or (name in seen and not ready):
            continue
        if ready:
            ordered.append(node)
            continue
        seen.update(node.output)
        stack.append((name, True))
        stack.extend((source, False) for source in node.input)
    return ordered
