"""The graph of an ONNX file as frozen facts: nodes, values, constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .kernels import OPERATORS
from .kernels.operator import Attributes, Node
from .onnx_file import Message, Source, dtype_of, read_model, tensor

OPSETS = range(17, 21)


@dataclass(frozen=True)
class ValueInfo:
    """A named input or output of the graph."""

    name: str
    shape: tuple[int | str, ...]
    """Sizes, or names of sizes that vary, such as "T"; "x_1" for an unnamed axis 1 of x."""
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Graph:
    """A model as read; nothing is computed yet."""

    nodes: tuple[Node, ...]
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    constants: Mapping[str, NDArray[Any]] = field(repr=False)
    """Initializers, read-only views into the file."""
    metadata: Mapping[str, str]
    opset: int


def load_graph(source: Source) -> Graph:
    """Reads an ONNX model from a path (memory-mapped) or from bytes.

    Raises ModelError for a truncated or foreign file, an unknown operator (named with its node), or an
    operator set outside 17..20.
    """
    model = read_model(source)
    if "graph" not in model:
        raise ModelError("no graph inside: not an ONNX model, or a truncated one")
    opset = check_opset(model)
    graph: Message = model["graph"]
    if graph["sparse_initializer"]:
        raise ModelError("sparse initializers are not supported; export dense or Gather + MatMul weights")
    constants = {message.get("name", ""): tensor(message) for message in graph["initializer"]}
    nodes = tuple(read_node(message) for message in graph["node"])
    inputs = tuple(read_value(message) for message in graph["input"] if message.get("name") not in constants)
    outputs = tuple(read_value(message) for message in graph["output"])
    check_order(nodes, {*constants, *(value.name for value in inputs)}, outputs)
    metadata = {entry.get("key", ""): entry.get("value", "") for entry in model["metadata_props"]}
    return Graph(nodes, inputs, outputs, constants, metadata, opset)


def check_opset(model: Message) -> int:
    versions = {entry.get("domain", ""): entry.get("version", 0) for entry in model["opset_import"]}
    version = versions.get("", versions.get("ai.onnx", 0))
    if version not in OPSETS:
        raise ModelError(f"operator set {version} is not in 17..20; export with opset_version=17")
    return int(version)


def read_node(message: Message) -> Node:
    operator, name = message.get("op_type", ""), message.get("name", "")
    inputs, outputs = tuple(message["input"]), tuple(message["output"])
    name = name or (outputs[0] if outputs else "unnamed")
    if message.get("domain", "") not in ("", "ai.onnx") or operator not in OPERATORS:
        domain = f"{message['domain']}." if message.get("domain") else ""
        raise ModelError(f"node '{name}' uses operator {domain}{operator}, which the engine does not run")
    fewest, most = OPERATORS[operator].arity
    if not outputs or not fewest <= len(inputs) <= most:
        raise ModelError(f"node '{name}' ({operator}) has {len(inputs)} inputs and {len(outputs)} outputs")
    attributes: Attributes = {entry.get("name", ""): attribute(entry, name) for entry in message["attribute"]}
    if operator == "Cast":
        attributes["dtype"] = dtype_of(attributes.get("to", 0), f"Cast '{name}'")
    return Node(operator, name, inputs, outputs, attributes)


def attribute(entry: Message, node: str) -> Any:
    """The value of an attribute: float, int, text, array, or a tuple of these."""
    kind = entry.get("type", 0)
    if kind == 1:
        return float(entry.get("f", 0.0))
    if kind == 2:
        return int(entry.get("i", 0))
    if kind == 3:
        return bytes(entry.get("s", b"")).decode(errors="replace")
    if kind == 4:
        return tensor(entry.get("t") or {"dims": []})
    if kind == 6:
        return tuple(entry["floats"])
    if kind == 7:
        return tuple(entry["ints"])
    if kind == 8:
        return tuple(bytes(item).decode(errors="replace") for item in entry["strings"])
    raise ModelError(
        f"node '{node}': attribute '{entry.get('name')}' has type {kind}, which is not supported"
    )


def read_value(message: Message) -> ValueInfo:
    name = message.get("name", "")
    tensor_type = message.get("type", {}).get("tensor_type")
    if not name or tensor_type is None:
        raise ModelError(f"graph input or output '{name}' has no tensor type")
    dims = tensor_type.get("shape", {}).get("dim", [])
    shape = tuple(
        dim.get("dim_param") or dim.get("dim_value") or f"{name}_{axis}" for axis, dim in enumerate(dims)
    )
    if any(isinstance(size, int) and size < 0 for size in shape):
        raise ModelError(f"graph input or output '{name}' has shape {shape}")
    return ValueInfo(name, shape, dtype_of(tensor_type.get("elem_type", 0), f"'{name}'"))


def check_order(nodes: tuple[Node, ...], known: set[str], outputs: tuple[ValueInfo, ...]) -> None:
    """ONNX demands that a value is made once, and before it is read."""
    for node in nodes:
        for name in node.inputs:
            if name and name not in known:
                raise ModelError(f"node '{node.name}' reads '{name}', which nothing before it makes")
        for name in node.outputs:
            if name and name in known:
                raise ModelError(f"node '{node.name}' makes '{name}' a second time")
        known.update(node.outputs)
    for value in outputs:
        if value.name not in known:
            raise ModelError(f"nothing makes the graph's output '{value.name}'; the file is damaged")
