"""The protobuf reader against the onnx package, and against files that are no models."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from stonechat.engine import load_graph
from stonechat.engine.onnx_file import decode, tensor
from stonechat.errors import ModelError

KINDS = [np.float32, np.int64, np.int32, np.int8, np.uint8, np.float16, np.float64, np.bool_]


@given(
    st.sampled_from(KINDS), st.lists(st.integers(0, 4), max_size=3), st.booleans(), st.integers(0, 2**32 - 1)
)
def test_tensor_equals_onnx(kind, shape, raw, seed):
    array = np.random.default_rng(seed).integers(0, 100, shape).astype(kind)
    if raw:
        message = numpy_helper.from_array(array, "x")
    else:
        values = array.view(np.uint16) if kind == np.float16 and array.ndim else array.astype(kind)
        kinds = helper.np_dtype_to_tensor_dtype(array.dtype)
        message = helper.make_tensor(
            "x", kinds, shape, array.ravel() if kind == np.float16 else values.ravel()
        )
    read = tensor(decode("Tensor", memoryview(message.SerializeToString())))
    assert read.dtype == array.dtype
    np.testing.assert_array_equal(read, array)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    st.floats(width=32, allow_nan=False),
    st.text(max_size=5),
)
def test_attributes_equal_onnx(ints, number, text):
    node = helper.make_node("Identity", ["x"], ["y"], name=text, n=number, s=text, k=ints or [1])
    model = helper.make_model(
        helper.make_graph([node], "g", [value("x")], [value("y")]),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    read = load_graph(model.SerializeToString()).nodes[0]
    assert read.attributes["n"] == pytest.approx(number)
    assert (read.attributes["s"], read.attributes["k"], read.name) == (text, tuple(ints or [1]), text or "y")


def value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "T", None])


def test_graph_facts(data):
    path = data / "torch_stream.onnx"
    graph, theirs = load_graph(path), onnx.load(path)
    assert [n.operator for n in graph.nodes] == [n.op_type for n in theirs.graph.node]
    assert graph.inputs[0].shape == (1, "T", 16)
    assert graph.inputs[0].dtype == np.float32
    assert graph.opset == 17
    for initializer in theirs.graph.initializer:
        np.testing.assert_array_equal(graph.constants[initializer.name], numpy_helper.to_array(initializer))


def test_metadata(model_of):
    model = onnx.load_from_string(model_of([helper.make_node("Neg", ["x"], ["y"])], {"x": (2,)}, ["y"]))
    helper.set_model_props(model, {"voice": "小北", "rate": "24000"})
    assert load_graph(model.SerializeToString()).metadata == {"voice": "小北", "rate": "24000"}


@pytest.mark.parametrize("name", ["torch_stream.onnx", "torch_encoder.onnx"])
def test_truncated_anywhere(data, name):
    whole = (data / name).read_bytes()
    for size in range(0, len(whole) - 1, 50):
        with pytest.raises(ModelError):
            load_graph(whole[:size])


@given(st.binary(max_size=200))
def test_noise_is_refused(noise):
    with pytest.raises(ModelError):
        load_graph(noise)


@given(draws=st.data())
def test_damaged_bytes_never_raise_anything_else(draws, data):
    whole = bytearray((data / "torch_stream.onnx").read_bytes())
    for _ in range(draws.draw(st.integers(1, 4))):
        whole[draws.draw(st.integers(0, len(whole) - 1))] = draws.draw(st.integers(0, 255))
    with suppress(ModelError):
        load_graph(bytes(whole))


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 a zip file", "一段文字，不是模型。".encode(), b"#!/bin/sh\necho hi\n" * 9]
)
def test_foreign_files(tmp_path, content):
    path = tmp_path / "voice.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError):
        load_graph(path)


def test_missing_file(tmp_path):
    with pytest.raises(ModelError, match=r"none\.onnx"):
        load_graph(tmp_path / "none.onnx")
    with pytest.raises(ModelError):
        load_graph(tmp_path)


def test_unknown_operator_is_named(model_of):
    model = model_of(
        [helper.make_node("Einsum", ["x"], ["y"], name="odd", equation="i->i")], {"x": (2,)}, ["y"]
    )
    with pytest.raises(ModelError, match=r"odd.*Einsum"):
        load_graph(model)
    internal = model_of([helper.make_node("Linear", ["x", "x"], ["y"])], {"x": (2, 2)}, ["y"])
    with pytest.raises(ModelError, match="Linear"):
        load_graph(internal)


@pytest.mark.parametrize("opset", [9, 16, 21])
def test_opset_is_checked(model_of, opset):
    with pytest.raises(ModelError, match="17"):
        load_graph(model_of([helper.make_node("Neg", ["x"], ["y"])], {"x": (2,)}, ["y"], opset=opset))


def test_unsorted_and_dangling_graphs(model_of):
    neg, exp = helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Exp", ["a"], ["y"])
    with pytest.raises(ModelError, match="reads 'a'"):
        load_graph(model_of([exp, neg], {"x": (2,)}, ["y"]))
    with pytest.raises(ModelError, match="output 'z'"):
        load_graph(model_of([neg], {"x": (2,)}, ["z"]))
    with pytest.raises(ModelError, match="second time"):
        load_graph(model_of([neg, neg], {"x": (2,)}, ["a"]))


def test_external_weights_are_refused():
    message = numpy_helper.from_array(np.ones(3, np.float32), "w")
    message.data_location = TensorProto.EXTERNAL
    with pytest.raises(ModelError, match="outside the file"):
        tensor(decode("Tensor", memoryview(message.SerializeToString())))
