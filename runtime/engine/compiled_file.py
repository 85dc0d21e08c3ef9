"""A compiled graph as bytes: read back in a millisecond where compiling takes a hundred.

magic, header length u32, crc32 u32 of all that follows; the header (JSON: a key, the facts, the arrays' places);
then the arrays, each at a multiple of 64. Nothing in it is executed: a foreign file can at most be refused.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np

from ..errors import ModelError
from .binding import Plan
from .compiled import Compiled
from .graph import ValueInfo
from .kernels.operator import Array, Node
from .plan import Slot, aligned
from .schedule import Schedule

MAGIC = b"SCPROG1\n"
PREFIX = struct.Struct("<8sII")
PAD = bytes(64)

Key = dict[str, Any]
"""What the file was made of and for, of JSON's types; a file with another key is stale."""


def to_bytes(compiled: Compiled, key: Key) -> Iterator[bytes | memoryview]:
    """The file's pieces, in order."""
    arrays: list[Array] = []
    facts = _facts(compiled, arrays)
    at, places = 0, []
    for array in arrays:
        places.append([array.dtype.str, list(array.shape), at])
        at += aligned(array.nbytes)
    header = json.dumps({"key": key, "arrays": places, **facts}, separators=(",", ":")).encode()
    header += b" " * (-(PREFIX.size + len(header)) % 64)
    pieces = [header]
    for array in arrays:
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).tobytes()
        pieces += [raw, PAD[: aligned(len(raw)) - len(raw)]]
    crc = 0
    for piece in pieces:
        crc = crc32(piece, crc)
    yield PREFIX.pack(MAGIC, len(header), crc)
    yield from pieces


def from_bytes(data: memoryview, key: Key) -> Compiled:
    """The compiled graph; its constants are views of `data`. ModelError when damaged, or made for another key."""
    if len(data) < PREFIX.size:
        raise ModelError("the compiled graph is truncated")
    magic, size, crc = PREFIX.unpack_from(data)
    if magic != MAGIC or crc32(data[PREFIX.size :]) != crc:
        raise ModelError("the compiled graph is damaged")
    header = json.loads(bytes(data[PREFIX.size : PREFIX.size + size]))
    if header["key"] != key:
        raise ModelError("the compiled graph is stale")
    start = PREFIX.size + size
    arrays = [_array(data, start + at, dtype, shape) for dtype, shape, at in header["arrays"]]
    return _compiled(header, arrays)


def _array(data: memoryview, at: int, dtype: str, shape: list[int]) -> Array:
    array: Array = np.ndarray(tuple(shape), np.dtype(dtype), data, at)
    array.flags.writeable = False
    return array


def _facts(c: Compiled, arrays: list[Array]) -> dict[str, Any]:
    order, plan = c.schedule, c.plan
    index = {id(node): i for i, node in enumerate(order.nodes)}
    constants = {}
    for name, value in c.constants.items():
        constants[name] = len(arrays)
        arrays.append(value)
    return {
        "inputs": [_value(v) for v in c.inputs],
        "outputs": [_value(v) for v in c.outputs],
        "metadata": dict(c.metadata),
        "max_dims": dict(c.max_dims),
        "nodes": [_node(node, arrays) for node in order.nodes],
        "joins": {name: [index[id(node)], at] for name, (node, at) in order.joins.items()},
        "orders": {name: list(axes) for name, axes in order.orders.items()},
        "slots": {name: [slot.offset, slot.size] for name, slot in plan.slots.items()},
        "in_place": dict(plan.in_place),
        "joined": sorted(plan.joined),
        "views": sorted(plan.views),
        "computed": sorted(plan.running),
        "constants": constants,
        "running": sorted(c.running),
    }


def _compiled(facts: dict[str, Any], arrays: list[Array]) -> Compiled:
    """The inverse of `_facts`; lifetimes are left out, for only planning asks for them."""
    nodes = tuple(_read_node(row, arrays) for row in facts["nodes"])
    joins = {name: (nodes[i], at) for name, (i, at) in facts["joins"].items()}
    orders = {name: tuple(axes) for name, axes in facts["orders"].items()}
    plan = Plan(
        slots={name: Slot(*row) for name, row in facts["slots"].items()},
        in_place=facts["in_place"],
        joined=frozenset(facts["joined"]),
        views=frozenset(facts["views"]),
        running=frozenset(facts["computed"]),
    )
    return Compiled(
        inputs=tuple(map(_read_value, facts["inputs"])),
        outputs=tuple(map(_read_value, facts["outputs"])),
        metadata=facts["metadata"],
        max_dims=facts["max_dims"],
        schedule=Schedule(nodes, {}, frozenset(), joins, orders),
        plan=plan,
        constants={name: arrays[i] for name, i in facts["constants"].items()},
        running=frozenset(facts["running"]),
    )


def _value(value: ValueInfo) -> list[Any]:
    return [value.name, list(value.shape), value.dtype.str]


def _read_value(row: list[Any]) -> ValueInfo:
    name, shape, dtype = row
    return ValueInfo(name, tuple(shape), np.dtype(dtype))


def _node(node: Node, arrays: list[Array]) -> list[Any]:
    attributes = {name: _attribute(value, arrays) for name, value in node.attributes.items()}
    return [node.operator, node.name, node.inputs, node.outputs, attributes]


def _read_node(row: list[Any], arrays: list[Array]) -> Node:
    operator, name, inputs, outputs, attributes = row
    read = {key: _read_attribute(value, arrays) for key, value in attributes.items()}
    return Node(operator, name, tuple(inputs), tuple(outputs), read)


def _attribute(value: Any, arrays: list[Array]) -> Any:
    """Numbers and text as they are; what JSON has no word for as an object."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    return {"dtype": value.str} if isinstance(value, np.dtype) else value


def _read_attribute(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return arrays[value["array"]] if "array" in value else np.dtype(value["dtype"])
    return value
