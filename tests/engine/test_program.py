"""Whole programs: streaming equals batch, states, memory, bindings, and what torch exports."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from stonechat.engine import Program, load_graph
from stonechat.engine.__main__ import main as show
from stonechat.engine.plan import linear, overlaps, total
from stonechat.errors import ModelError

node = helper.make_node
BLOCK, LEFT, HEADS = 3, 24, 2
FRAMES = 75


def ints(*values):
    return np.array(values, np.int64)


@dataclass
class Stack:
    """Builds a graph block after block; `x` is the name of the last value, (1, T, width)."""

    width: int
    hidden: int
    seed: int = 0
    x: str = "x"
    nodes: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)
    states: dict = field(default_factory=dict)

    def __post_init__(self):
        self.random = np.random.default_rng(self.seed)
        self.constants |= {"one": np.ones(self.width, np.float32), "none": np.zeros(self.width, np.float32)}
        self.constants |= {"axis1": ints(1), "far": ints(2**62), "left": ints(-LEFT)}

    def add(self, operator, inputs, **attributes):
        output = f"v{len(self.nodes)}"
        self.nodes.append(node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32))

    def state(self, length, tail):
        """Joins a state before self.x; the tail of the whole is the next state."""
        name = f"s{len(self.states)}_state"
        self.states[name] = (1, length, self.width)
        whole = self.add("Concat", [f"{name}_in", self.x], axis=1)
        self.nodes.append(node("Slice", [whole, tail, "far", "axis1"], [f"{name}_out"]))
        return whole

    def linear(self, x, inputs, outputs):
        product = self.add("MatMul", [x, self.weight(inputs, outputs)])
        return self.add("Add", [product, self.weight(outputs)])

    def norm(self, x):
        return self.add("LayerNormalization", [x, "one", "none"], axis=-1, epsilon=1e-5)

    def convolution(self, taps):
        whole = self.state(taps - 1, self.constant(ints(1 - taps)))
        turned = self.add("Transpose", [whole], perm=[0, 2, 1])
        w, b = self.weight(self.width, 1, taps), self.weight(self.width)
        turned = self.add("Conv", [turned, w, b], group=self.width, kernel_shape=[taps])
        y = self.norm(self.add("Transpose", [turned], perm=[0, 2, 1]))
        y = self.add("Relu", [self.linear(y, self.width, self.hidden)])
        self.x = self.add("Add", [self.x, self.linear(y, self.hidden, self.width)])

    def attention(self):
        """Blocks of 3 frames look at themselves and 24 frames before; windows gathered as whole blocks."""
        x, width, each = self.x, self.width, self.width // HEADS
        whole = self.state(LEFT, "left")
        first, two, one = self.constant(ints(0)[0]), self.constant(ints(BLOCK)[0]), self.constant(ints(1)[0])
        size = self.add("Gather", [self.add("Shape", [x]), "axis1"])
        blocks = self.add("Div", [self.add("Squeeze", [size]), two])
        start = self.add("Unsqueeze", [self.add("Range", [first, blocks, one]), "axis1"])
        index = self.add("Add", [start, self.constant(np.arange(LEFT // BLOCK + 1)[None])])
        shape = self.constant(ints(1, -1, BLOCK * width))
        windows = self.add("Gather", [self.add("Reshape", [whole, shape]), index], axis=1)
        memory = self.add("Reshape", [windows, self.constant(ints(-1, LEFT + BLOCK, width))])
        heads = self.constant(ints(0, 0, HEADS, each))
        keys, values = (self.add("Reshape", [self.linear(memory, width, width), heads]) for _ in range(2))
        keys = self.add("Transpose", [keys], perm=[0, 2, 3, 1])
        values = self.add("Transpose", [values], perm=[0, 2, 1, 3])
        query = self.add(
            "Reshape", [self.linear(x, width, width), self.constant(ints(-1, BLOCK, HEADS, each))]
        )
        query = self.add("Transpose", [query], perm=[0, 2, 1, 3])
        scores = self.add("Mul", [self.add("MatMul", [query, keys]), self.constant(np.float32(each**-0.5))])
        scores = self.add("Add", [scores, self.weight(HEADS, BLOCK, LEFT + BLOCK)])
        mixed = self.add("MatMul", [self.add("Softmax", [scores], axis=-1), values])
        mixed = self.add(
            "Reshape", [self.add("Transpose", [mixed], perm=[0, 2, 1, 3]), self.constant(ints(1, -1, width))]
        )
        self.x = self.add("Add", [x, self.linear(mixed, width, width)])

    def model(self, model_of):
        self.nodes.append(node("Identity", [self.x], ["y"]))
        inputs = {"x": (1, "T", self.width), **{f"{name}_in": shape for name, shape in self.states.items()}}
        return model_of(self.nodes, inputs, ["y", *(f"{name}_out" for name in self.states)], self.constants)


def build(model_of, blocks, width=8, hidden=12, seed=0):
    stack = Stack(width, hidden, seed)
    for taps in blocks:
        stack.convolution(taps) if taps else stack.attention()
    return stack.model(model_of), stack


def placed(model, longest=FRAMES):
    program = Program(load_graph(model), {"T": longest})
    program.place(np.empty(program.weight_bytes, np.uint8), np.full(program.arena_bytes, 255, np.uint8))
    return program


def stream(program, x, block):
    """The whole of x (1, frames, width), `block` frames at a time; the rest at the end is shorter."""
    state, parts = np.zeros(program.state_bytes, np.uint8), []
    for start in range(0, x.shape[1], block):
        part = x[:, start : start + block]
        bound = program.bind({"T": part.shape[1]}, state)
        bound.inputs["x"][...] = part
        bound.run()
        parts.append(bound.outputs["y"].copy())
    return np.concatenate(parts, axis=1), {name: bound.state[name].copy() for name in program.state_names}


@settings(max_examples=6, deadline=None)
@given(st.lists(st.sampled_from([13, 5, 0]), min_size=1, max_size=4), st.integers(0, 99))
def test_streaming_equals_batch_and_onnxruntime(model_of, session_of, blocks, seed):
    model, stack = build(model_of, blocks, seed=seed)
    program = placed(model)
    x = np.random.default_rng(seed).standard_normal((1, FRAMES, 8)).astype(np.float32)
    feeds = {"x": x, **{f"{name}_in": np.zeros(shape, np.float32) for name, shape in stack.states.items()}}
    expected, *states = session_of(model).run(None, feeds)
    for block in (3, 6, 12, 75):
        y, after = stream(program, x, block)
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
        for mine, theirs in zip(after.values(), states, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


def test_two_sessions_do_not_disturb_each_other(model_of):
    model, _ = build(model_of, [5, 0, 13])
    program = placed(model)
    xs = np.random.default_rng(1).standard_normal((2, 1, 12, 8)).astype(np.float32)
    alone = [stream(program, x, 3)[0] for x in xs]
    slots = [np.zeros(program.state_bytes, np.uint8) for _ in xs]
    parts: list[list[np.ndarray]] = [[], []]
    for start in range(0, 12, 3):
        for session, slot in enumerate(slots):
            bound = program.bind({"T": 3}, slot)
            bound.inputs["x"][...] = xs[session][:, start : start + 3]
            bound.run()
            parts[session].append(bound.outputs["y"].copy())
    for session in range(2):
        np.testing.assert_array_equal(np.concatenate(parts[session], axis=1), alone[session])


@pytest.mark.parametrize("frames", [3, 75])
def test_a_warm_run_allocates_nothing_array_sized(model_of, frames):
    model, _ = build(model_of, [13, 0], width=224, hidden=672)
    program = placed(model)
    bound = program.bind({"T": frames}, np.zeros(program.state_bytes, np.uint8))
    bound.inputs["x"][...] = 0.5
    bound.run()
    tracemalloc.start()
    try:
        bound.run()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 66 * 1024  # numpy 1.26 takes one buffer of 64 KiB and a little


def test_number_of_calls(model_of):
    """A ConvNeXt block is 19 calls, an attention block 26; more means a pattern is no longer recognised."""
    steps = {}
    for name, blocks in {"none": [], "convolution": [13, 13], "attention": [13, 0]}.items():
        model, _ = build(model_of, [13, *blocks])
        program = placed(model)
        steps[name] = len(program.bind({"T": 3}, np.zeros(program.state_bytes, np.uint8)).steps)
    assert steps["convolution"] - steps["none"] == 2 * 18
    assert steps["attention"] - steps["convolution"] <= 26 - 18


def test_the_plan_of_a_real_graph_is_sound(data):
    program = Program(load_graph(data / "torch_stream.onnx"), {"T": FRAMES})
    plan = program._plan
    assert overlaps(plan.blocks, dict(plan.slots)) == []
    assert program.arena_bytes <= total(linear(plan.blocks))
    assert program.arena_bytes % 64 == program.weight_bytes % 64 == program.state_bytes % 64 == 0


def test_bindings_are_kept_and_share_weights(model_of):
    model, _ = build(model_of, [13])
    program = Program(load_graph(model), {"T": FRAMES})
    weights = np.zeros(program.weight_bytes, np.uint8)
    program.place(weights, np.zeros(program.arena_bytes, np.uint8))
    state, other = (np.zeros(program.state_bytes, np.uint8) for _ in range(2))
    three, six = program.bind({"T": 3}, state), program.bind({"T": 6}, state)
    assert program.bind({"T": 3}, state) is three
    assert program.bind({"T": 3}, other) is not three
    used = [
        {a.__array_interface__["data"][0] for _, args in bound.steps for a in args if within(a, weights)}
        for bound in (three, six)
    ]
    assert used[0] < used[1]  # of three rows, biases stand in full size elsewhere
    assert len(used[1]) == 6  # taps and bias of the convolution, two Linear layers
    assert len(used[0]) == 3


def within(x, memory):
    return isinstance(x, np.ndarray) and np.may_share_memory(x, memory)


def test_weights_are_copied_from_the_file(data, tmp_path):
    path = tmp_path / "voice.onnx"
    path.write_bytes((data / "torch_stream.onnx").read_bytes())
    program = Program(load_graph(path), {"T": 6})
    program.place(np.zeros(program.weight_bytes, np.uint8), np.zeros(program.arena_bytes, np.uint8))
    assert "voice.onnx" not in Path("/proc/self/maps").read_text()


def torch_feeds(bound, seed=0):
    random = np.random.default_rng(seed)
    return {
        name: (
            random.integers(0, 20, x.shape) if x.dtype.kind == "i" else random.standard_normal(x.shape)
        ).astype(x.dtype)
        for name, x in bound.inputs.items()
    }


@pytest.mark.parametrize(("name", "size"), [("stream", "T"), ("encoder", "N")])
def test_what_torch_exports(data, session_of, bound_of, run, name, size):
    model = (data / f"torch_{name}.onnx").read_bytes()
    session = session_of(model)
    for frames in (3, 12, 30):
        _, bound = bound_of(model, {size: 30}, {size: frames})
        feeds = torch_feeds(bound)
        states = {f"{key}_in": np.zeros_like(value) for key, value in bound.state.items()}
        for _ in range(3):
            outputs = [output.name for output in session.get_outputs()]
            expected = dict(zip(outputs, session.run(outputs, {**feeds, **states}), strict=True))
            result = run(bound, feeds) | {f"{key}_out": value for key, value in bound.state.items()}
            for output in outputs:
                np.testing.assert_allclose(result[output], expected[output], rtol=1e-5, atol=1e-5)
            states = {f"{key}_in": expected[f"{key}_out"] for key in bound.state}


def test_torch_patterns_are_fused(data, bound_of):
    """Concat writes once, Transposes around Conv and heads are views, k and v are joined where they lie."""
    _, bound = bound_of(data / "torch_stream.onnx", {"T": 75}, {"T": 3})
    names = [kernel.__name__ for kernel, _ in bound.steps]
    assert names.count("__setitem__") == 7  # three states in, three out, k and v behind the attention's state
    assert names.count("take") == 1
    assert len(names) <= 73


def test_states_that_swap_or_pass_through(model_of):
    nodes = [
        node("Identity", ["b_state_in"], ["a_state_out"]),
        node("Identity", ["a_state_in"], ["b_state_out"]),
        node("Slice", ["c_state_in", "one", "far", "axis"], ["tail"]),
        node("Concat", ["tail", "x"], ["c_state_out"], axis=0),
        node("Add", ["c_state_out", "a_state_in"], ["y"]),
    ]
    shapes = {"x": (1,), "a_state_in": (3,), "b_state_in": (3,), "c_state_in": (3,)}
    outputs = ["y", "a_state_out", "b_state_out", "c_state_out"]
    model = model_of(nodes, shapes, outputs, {"one": ints(1), "far": ints(9), "axis": ints(0)})
    program = Program(load_graph(model))
    program.place(np.zeros(program.weight_bytes, np.uint8), np.zeros(program.arena_bytes, np.uint8))
    bound = program.bind({}, np.zeros(program.state_bytes, np.uint8))
    bound.state["a_state"][...], bound.state["b_state"][...] = 1, 2
    for turn in range(4):
        bound.inputs["x"][...] = turn
        bound.run()
        assert bound.outputs["y"][-1] == turn + (1, 2)[turn % 2]
        assert (bound.state["a_state"][0], bound.state["b_state"][0]) == ((2, 1), (1, 2))[turn % 2]
    assert bound.state["c_state"].tolist() == [1, 2, 3]


def test_what_does_not_fit_is_refused(model_of):
    model, _ = build(model_of, [5])
    graph = load_graph(model)
    with pytest.raises(ModelError, match="max_dims"):
        Program(graph, {})
    program = Program(graph, {"T": 6})
    state = np.zeros(program.state_bytes, np.uint8)
    with pytest.raises(ModelError, match="place"):
        program.bind({"T": 3}, state)
    with pytest.raises(ModelError, match="arena"):
        program.place(np.zeros(program.weight_bytes, np.uint8), np.zeros(program.arena_bytes - 1, np.uint8))
    program.place(np.zeros(program.weight_bytes, np.uint8), np.zeros(program.arena_bytes, np.uint8))
    for dims, message in (
        ({"T": 7}, "raise max_dims"),
        ({"T": 0}, "outside"),
        ({}, "needs sizes"),
        ({"N": 3}, "needs sizes"),
    ):
        with pytest.raises(ModelError, match=message):
            program.bind(dims, state)
    with pytest.raises(ModelError, match="state"):
        program.bind({"T": 3})
    with pytest.raises(ModelError, match="state"):
        program.bind({"T": 3}, np.zeros(4, np.uint8))


def test_state_without_output_is_refused(model_of):
    model = model_of([node("Neg", ["a_state_in"], ["y"])], {"a_state_in": (3,)}, ["y"])
    with pytest.raises(ModelError, match="a_state_out"):
        Program(load_graph(model))


def test_show(data, capsys, tmp_path):
    assert show([str(data / "torch_stream.onnx"), "--max", "T=12", "--dims", "T=3"]) == 0
    printed = capsys.readouterr().out
    assert "conv0_state" in printed
    assert "maximum.reduce" in printed
    assert show([str(tmp_path / "none.onnx")]) == 1
    assert "cannot read" in capsys.readouterr().out
