"""Reads the protobuf bytes of an ONNX file, without the `onnx` package and without copying weights.

Only the fields the engine needs are known (onnx.proto3); all others are skipped, as protobuf prescribes.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError

Source = str | os.PathLike[str] | bytes | memoryview
Message = dict[str, Any]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
FLOATS = {"float": "<f4", "double": "<f8"}
MAX_DEPTH = 16
"""Messages nested deeper than this are an attack or noise, never a model."""


@dataclass(frozen=True)
class Field:
    """One field of a protobuf message: its name and what its bytes mean."""

    name: str
    kind: str
    """int, float, double, text, bytes, or the name of a message in SCHEMA."""
    repeated: bool = False


SCHEMA: dict[str, dict[int, Field]] = {
    "Model": {
        1: Field("ir_version", "int"),
        7: Field("graph", "Graph"),
        8: Field("opset_import", "Opset", repeated=True),
        14: Field("metadata_props", "Entry", repeated=True),
    },
    "Opset": {1: Field("domain", "text"), 2: Field("version", "int")},
    "Entry": {1: Field("key", "text"), 2: Field("value", "text")},
    "Graph": {
        1: Field("node", "Node", repeated=True),
        2: Field("name", "text"),
        5: Field("initializer", "Tensor", repeated=True),
        11: Field("input", "Value", repeated=True),
        12: Field("output", "Value", repeated=True),
        15: Field("sparse_initializer", "bytes", repeated=True),
    },
    "Node": {
        1: Field("input", "text", repeated=True),
        2: Field("output", "text", repeated=True),
        3: Field("name", "text"),
        4: Field("op_type", "text"),
        5: Field("attribute", "Attribute", repeated=True),
        7: Field("domain", "text"),
    },
    "Attribute": {
        1: Field("name", "text"),
        2: Field("f", "float"),
        3: Field("i", "int"),
        4: Field("s", "bytes"),
        5: Field("t", "Tensor"),
        7: Field("floats", "float", repeated=True),
        8: Field("ints", "int", repeated=True),
        9: Field("strings", "bytes", repeated=True),
        20: Field("type", "int"),
    },
    "Tensor": {
        1: Field("dims", "int", repeated=True),
        2: Field("data_type", "int"),
        4: Field("float_data", "float", repeated=True),
        5: Field("int32_data", "int", repeated=True),
        7: Field("int64_data", "int", repeated=True),
        8: Field("name", "text"),
        9: Field("raw_data", "bytes"),
        10: Field("double_data", "double", repeated=True),
        11: Field("uint64_data", "int", repeated=True),
        14: Field("data_location", "int"),
    },
    "Value": {1: Field("name", "text"), 2: Field("type", "Type")},
    "Type": {1: Field("tensor_type", "TensorType")},
    "TensorType": {1: Field("elem_type", "int"), 2: Field("shape", "Shape")},
    "Shape": {1: Field("dim", "Dim", repeated=True)},
    "Dim": {1: Field("dim_value", "int"), 2: Field("dim_param", "text")},
}


def read_model(source: Source) -> Message:
    """Decodes a whole model. Weights stay views into the mapped file (or the given bytes).

    Raises ModelError when the file is missing, empty, truncated, or no ONNX model.
    """
    return decode("Model", map_bytes(source))


def map_bytes(source: Source) -> memoryview:
    """A read-only view of a file's bytes; the mapping lives as long as something looks at it."""
    if isinstance(source, bytes | memoryview):
        return memoryview(source).cast("B")
    path = Path(source)
    try:
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError as error:
        raise ModelError(f"{path} is empty; copy or export the model again") from error
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error


def decode(message: str, data: memoryview, depth: int = 0) -> Message:
    """Decodes one message; absent repeated fields are empty lists, absent others are not in the result."""
    if depth > MAX_DEPTH:
        raise ModelError("not an ONNX model: messages are nested too deep")
    schema = SCHEMA[message]
    result: Message = {field.name: [] for field in schema.values() if field.repeated}
    for number, wire, value in fields(data):
        field = schema.get(number)
        if field is None:
            continue
        if not field.repeated:
            result[field.name] = one_value(field, wire, value, depth)
        elif wire == BYTES and field.kind in ("int", "float", "double"):
            result[field.name].extend(unpack(field, value))
        else:
            result[field.name].append(one_value(field, wire, value, depth))
    return result


def fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Field number, wire type and raw value of each field of a message, in file order."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        wire = tag & 7
        value: Any
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire in (FIXED64, FIXED32, BYTES):
            size, at = varint(data, at) if wire == BYTES else (8 if wire == FIXED64 else 4, at)
            value, at = data[at : at + size], at + size
        else:
            raise ModelError(f"not an ONNX model: wire type {wire} does not exist in protobuf 3")
        if at > end or tag < 8:
            raise ModelError("the model is truncated or no ONNX file; copy or export it again")
        yield tag >> 3, wire, value


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """An unsigned base-128 number at `at`, and where the next field begins."""
    result = shift = 0
    for position in range(at, min(at + 10, len(data))):
        byte = data[position]
        result |= (byte & 127) << shift
        if byte < 128:
            return result, position + 1
        shift += 7
    raise ModelError("the model is truncated or no ONNX file; copy or export it again")


def one_value(field: Field, wire: int, value: Any, depth: int) -> Any:
    expected = {"int": VARINT, "float": FIXED32, "double": FIXED64}.get(field.kind, BYTES)
    if wire != expected:
        raise ModelError(f"not an ONNX model: field '{field.name}' has wire type {wire}")
    if field.kind == "int":
        return signed(value)
    if field.kind in FLOATS:
        return np.frombuffer(value, FLOATS[field.kind])[0].item()
    if field.kind == "bytes":
        return value
    if field.kind != "text":
        return decode(field.kind, value, depth + 1)
    try:
        return bytes(value).decode()
    except UnicodeDecodeError as error:
        raise ModelError(f"not an ONNX model: field '{field.name}' is not text") from error


def unpack(field: Field, data: memoryview) -> list[Any]:
    """The values of a packed repeated field."""
    if field.kind in FLOATS:
        if len(data) % np.dtype(FLOATS[field.kind]).itemsize:
            raise ModelError(f"not an ONNX model: field '{field.name}' holds no whole numbers")
        return np.frombuffer(data, FLOATS[field.kind]).tolist()
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(signed(value))
    return values


def signed(value: int) -> int:
    """Protobuf's int64 of an unsigned 64-bit varint."""
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


TYPE_NAMES = ["<f4", "u1", "i1", "<u2", "<i2", "<i4", "<i8", "-", "?", "<f2", "<f8", "<u4", "<u8"]
DTYPES = {number: np.dtype(name) for number, name in enumerate(TYPE_NAMES, 1) if name != "-"}
"""numpy's type for each TensorProto.DataType the engine can hold."""


def dtype_of(number: int, owner: str) -> np.dtype[Any]:
    if number not in DTYPES:
        raise ModelError(f"{owner} has ONNX element type {number}, which the engine does not hold")
    return DTYPES[number]


def tensor(message: Message) -> NDArray[Any]:
    """A TensorProto as a read-only array; raw data is a view into the file, typed fields are converted."""
    name = message.get("name") or "a constant"
    if message.get("data_location", 0):
        raise ModelError(f"weights of {name} lie outside the file; export the model with them inside")
    dtype, shape = dtype_of(message.get("data_type", 0), name), tuple(message["dims"])
    if any(size < 0 for size in shape):
        raise ModelError(f"{name} has a negative size: {shape}")
    array = tensor_values(message, dtype)
    if array.size != prod(shape):
        raise ModelError(f"{name} has {array.size} values for shape {shape}; the file is damaged")
    array = array.reshape(shape)
    array.flags.writeable = False
    return array


def tensor_values(message: Message, dtype: np.dtype[Any]) -> NDArray[Any]:
    raw = message.get("raw_data")
    if raw is not None and len(raw):
        if len(raw) % dtype.itemsize:
            raise ModelError(f"{message.get('name')} has {len(raw)} bytes, no whole {dtype} values")
        return np.frombuffer(raw, dtype)
    try:
        for name in ("float_data", "double_data", "int64_data", "uint64_data"):
            if message[name]:
                return np.array(message[name], dtype)
        if dtype == np.float16:  # stored as bit patterns (onnx.proto3, int32_data)
            return np.array(message["int32_data"], np.uint16).view(dtype)
        return np.array(message["int32_data"], dtype)
    except OverflowError as error:
        raise ModelError(f"{message.get('name')} has values outside {dtype}") from error
