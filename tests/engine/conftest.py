"""Shared by the engine's tests: runs one ONNX model in the engine and in the two oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import settings
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from stonechat.engine import Bound, Program, load_graph

settings.register_profile("engine", max_examples=20, deadline=None)  # machines are shared
settings.load_profile("engine")

Values = dict[str, np.ndarray[Any, Any]]
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9}


def make_model(
    nodes: list[onnx.NodeProto],
    inputs: Mapping[str, tuple[Any, ...]],
    outputs: list[str],
    constants: Mapping[str, Any] | None = None,
    opset: int = 17,
    types: Mapping[str, str] | None = None,
) -> bytes:
    """A serialised model; inputs are float32 unless `types` says otherwise, output shapes are left open."""
    types = types or {}
    graph = helper.make_graph(
        nodes,
        "test",
        [
            helper.make_tensor_value_info(name, TYPES[types.get(name, "float32")], s)
            for name, s in inputs.items()
        ],
        [helper.make_tensor_value_info(name, TYPES[types.get(name, "float32")], None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model.SerializeToString()


def make_bound(
    model: bytes | Path, max_dims: Mapping[str, int], dims: Mapping[str, int]
) -> tuple[Program, Bound]:
    """A program in fresh memory full of NaN, bound to `dims`, its state zero."""
    program = Program(load_graph(model), max_dims)
    program.place(np.empty(program.weight_bytes, np.uint8), np.full(program.arena_bytes, 255, np.uint8))
    state = np.zeros(program.state_bytes, np.uint8) if program.state_names else None
    return program, program.bind(dims, state)


def run_bound(bound: Bound, feeds: Values) -> Values:
    for name, value in feeds.items():
        bound.inputs[name][...] = value
    bound.run()
    return {name: value.copy() for name, value in bound.outputs.items()}


def open_session(model: bytes) -> onnxruntime.InferenceSession:
    """onnxruntime on one thread, as written: no thread pool that spins, no rewriting."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])


def check_model(
    model: bytes, feeds: Values, dims: Mapping[str, int] | None = None, slack: int = 1, rtol: float = 1e-5
) -> Bound:
    """The engine, planned for `slack` times the sizes, equals onnx.reference and onnxruntime, twice over."""
    dims = dims or {}
    _, bound = make_bound(model, {name: size * slack for name, size in dims.items()}, dims)
    names = list(bound.outputs)
    session = open_session(model)
    oracles = [ReferenceEvaluator(model).run(names, feeds), session.run(names, feeds)]
    for _ in range(2):
        result = run_bound(bound, feeds)
        for oracle in oracles:
            for name, value in zip(names, oracle, strict=True):
                assert result[name].shape == np.shape(value)
                assert result[name].dtype == value.dtype
                np.testing.assert_allclose(result[name], value, rtol=rtol, atol=1e-5)
    return bound


@pytest.fixture(scope="session")
def model_of() -> Callable[..., bytes]:
    return make_model


@pytest.fixture(scope="session")
def bound_of() -> Callable[..., tuple[Program, Bound]]:
    return make_bound


@pytest.fixture(scope="session")
def run() -> Callable[..., Values]:
    return run_bound


@pytest.fixture(scope="session")
def check() -> Callable[..., Bound]:
    return check_model


@pytest.fixture(scope="session")
def session_of() -> Callable[..., onnxruntime.InferenceSession]:
    return open_session


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(__file__).parent / "data"
