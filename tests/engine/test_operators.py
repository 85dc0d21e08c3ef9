"""Every operator, in random small graphs, against onnx.reference and onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from stonechat.engine import Program, load_graph
from stonechat.errors import ModelError

node = helper.make_node
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def normal(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def ints(values):
    return np.array(values, np.int64)


def named(shape):
    """A shape with every size named, so that nothing can be folded."""
    return tuple(f"d{axis}" for axis in range(len(shape))), {
        f"d{axis}": size for axis, size in enumerate(shape)
    }


@given(
    SHAPES,
    st.sampled_from(
        ["Neg", "Abs", "Exp", "Sin", "Cos", "Floor", "Relu", "Sigmoid", "Tanh", "Erf", "Softplus"]
    ),
)
def test_unary(check, model_of, shape, operator):
    sizes, dims = named(shape)
    check(model_of([node(operator, ["x"], ["y"])], {"x": sizes}, ["y"]), {"x": normal(shape)}, dims, slack=2)


@given(SHAPES, st.sampled_from(["Sqrt", "Log", "Reciprocal"]))
def test_unary_of_positive(check, model_of, shape, operator):
    check(model_of([node(operator, ["x"], ["y"])], {"x": shape}, ["y"]), {"x": np.abs(normal(shape)) + 0.1})


@given(SHAPES, st.data())
def test_binary_broadcasts(check, model_of, shape, data):
    operator = data.draw(st.sampled_from(["Add", "Sub", "Mul", "Div", "Equal", "Less", "Greater"]))
    other = [size if data.draw(st.booleans()) else 1 for size in shape][
        data.draw(st.integers(0, len(shape) - 1)) :
    ]
    y = normal(other, 1) + (3 if operator == "Div" else 0)
    names = data.draw(st.sampled_from([["x", "y"], ["y", "x"]]) if operator != "Div" else st.just(["x", "y"]))
    kind = {"z": "bool"} if operator in ("Equal", "Less", "Greater") else {}
    model = model_of([node(operator, names, ["z"])], {"x": shape, "y": other}, ["z"], types=kind)
    check(model, {"x": normal(shape), "y": y})


@given(SHAPES, st.sampled_from([2.0, 0.5, 3.0, -1.0]), st.booleans())
def test_pow(check, model_of, shape, exponent, constant):
    feeds = {"x": np.abs(normal(shape)) + 0.1}
    power = {"e": np.array(exponent, np.float32)}
    inputs = {"x": shape} if constant else {"x": shape, "e": ()}
    model = model_of([node("Pow", ["x", "e"], ["y"])], inputs, ["y"], power if constant else {})
    check(model, feeds if constant else {**feeds, **power})


@given(SHAPES, st.sampled_from([0.01, 0.3, 1.5]))
def test_leaky_relu(check, model_of, shape, alpha):
    check(model_of([node("LeakyRelu", ["x"], ["y"], alpha=alpha)], {"x": shape}, ["y"]), {"x": normal(shape)})


@given(SHAPES, st.booleans(), st.booleans())
def test_clip(check, model_of, shape, low, high):
    inputs = ["x", "low" if low else "", "high" if high else ""]
    bounds = {"low": np.float32(-0.3), "high": np.float32(0.4)}
    model = model_of([node("Clip", inputs, ["y"])], {"x": shape}, ["y"], bounds)
    check(model, {"x": normal(shape)})


@given(SHAPES)
def test_logic_where_cast(check, model_of, shape):
    nodes = [
        node("Greater", ["x", "y"], ["a"]),
        node("Not", ["a"], ["b"]),
        node("Equal", ["x", "x"], ["c"]),
        node("And", ["b", "c"], ["d"]),
        node("Or", ["a", "d"], ["e"]),
        node("Where", ["b", "x", "y"], ["f"]),
        node("Cast", ["e"], ["g"], to=1),
        node("Cast", ["f"], ["h"], to=7),
        node("Add", ["f", "g"], ["z"]),
    ]
    model = model_of(nodes, {"x": shape, "y": shape}, ["z", "h"], types={"h": "int64"})
    check(model, {"x": normal(shape) * 9, "y": normal(shape, 1) * 9})


@given(
    st.lists(st.integers(1, 3), max_size=2),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 6),
    st.booleans(),
)
def test_matmul_batched(check, model_of, batch, m, k, n, swap):
    feeds = {"x": normal([*batch, m, k]), "y": normal([*batch, n, k] if swap else [*batch, k, n], 1)}
    perm = [*range(len(batch)), len(batch) + 1, len(batch)]
    nodes = [node("Transpose", ["y"], ["t"], perm=perm)] if swap else []
    nodes.append(node("MatMul", ["x", "t" if swap else "y"], ["z"]))
    check(model_of(nodes, {name: value.shape for name, value in feeds.items()}, ["z"]), feeds)


@pytest.mark.parametrize(
    ("x", "y"), [((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3))]
)
def test_matmul_vectors(check, model_of, x, y):
    check(
        model_of([node("MatMul", ["x", "y"], ["z"])], {"x": x, "y": y}, ["z"]),
        {"x": normal(x), "y": normal(y)},
    )


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(1, 9),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_linear(check, model_of, rows, k, n, relu, first):
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Add", ["b", "a"] if first else ["a", "b"], ["c"])]
    nodes += [node("Relu", ["c"], ["y"])] if relu else [node("Identity", ["c"], ["y"])]
    model = model_of(nodes, {"x": ["N"] * 0 + [*rows, k]}, ["y"], {"w": normal((k, n)), "b": normal(n, 1)})
    bound = check(model, {"x": normal([*rows, k])})
    assert len(bound.steps) == 2 + relu


@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 5),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_gemm(check, model_of, m, k, n, left, right, constant, data):
    alpha, beta = data.draw(st.sampled_from([(1.0, 1.0), (0.5, 2.0)]))
    feeds = {"x": normal((k, m) if left else (m, k))}
    rest = {
        "w": normal((n, k) if right else (k, n), 1),
        "c": normal(data.draw(st.sampled_from([(n,), (m, n), (1, n)])), 2),
    }
    inputs = {name: value.shape for name, value in {**feeds, **({} if constant else rest)}.items()}
    gemm = node("Gemm", ["x", "w", "c"], ["y"], transA=int(left), transB=int(right), alpha=alpha, beta=beta)
    check(model_of([gemm], inputs, ["y"], rest if constant else {}), feeds if constant else {**feeds, **rest})


@given(st.data())
def test_conv(check, model_of, data):
    batch, group = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 3))
    each, out, taps = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    stride, dilation = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 2))
    pads = data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    frames = (taps - 1) * dilation + data.draw(st.integers(1, 6))
    w = {"w": normal((group * out, each, taps))} | (
        {"b": normal(group * out)} if data.draw(st.booleans()) else {}
    )
    conv = node(
        "Conv",
        ["x", *w],
        ["y"],
        group=group,
        strides=[stride],
        dilations=[dilation],
        pads=pads,
        kernel_shape=[taps],
    )
    model = model_of([conv], {"x": (batch, group * each, "T")}, ["y"], w)
    check(model, {"x": normal((batch, group * each, frames), 1)}, {"T": frames}, slack=2)


@given(st.integers(1, 40), st.sampled_from([1, 5, 13]), st.booleans())
def test_conv_between_transposes_copies_nothing(check, model_of, frames, taps, depthwise):
    width, pads = 600, [taps // 2, taps // 2]
    w = normal((width, 1, taps) if depthwise else (8, width, taps)) / (1 if depthwise else 50)
    nodes = [
        node("Transpose", ["x"], ["a"], perm=[0, 2, 1]),
        node("Conv", ["a", "w"], ["b"], group=width if depthwise else 1, pads=pads, kernel_shape=[taps]),
        node("Transpose", ["b"], ["y"], perm=[0, 2, 1]),
    ]
    model = model_of(nodes, {"x": (1, "T", width)}, ["y"], {"w": w})
    bound = check(model, {"x": normal((1, frames, width))}, {"T": frames}, rtol=1e-4)
    assert bound.outputs["y"].flags.c_contiguous


@given(SHAPES, st.data())
def test_layer_norm(check, model_of, shape, data):
    shape = [*shape, data.draw(st.integers(2, 7))]
    axis = data.draw(st.integers(-len(shape), -1))
    kind = data.draw(st.sampled_from(["plain", "scale", "both"]))
    values = {"s": normal(shape[axis:], 1), "b": normal(shape[axis:], 2)}
    if kind == "plain":
        values = {"s": np.ones(shape[axis:], np.float32), "b": np.zeros(shape[axis:], np.float32)}
    names = ["x", "s"] if kind == "scale" else ["x", "s", "b"]
    model = model_of(
        [node("LayerNormalization", names, ["y"], axis=axis, epsilon=1e-3)], {"x": shape}, ["y"], values
    )
    bound = check(model, {"x": normal(shape) + 2})
    assert len(bound.steps) == 7 + len(names) - 1 - (2 if kind == "plain" else 0)


def test_layer_norm_scale_moves_into_linear(check, model_of):
    nodes = [
        node("LayerNormalization", ["x", "s", "b"], ["n"]),
        node("MatMul", ["n", "w"], ["a"]),
        node("MatMul", ["n", "v"], ["c"]),
        node("Add", ["a", "d"], ["y"]),
        node("Identity", ["c"], ["z"]),
    ]
    values = {
        "s": normal(6, 1),
        "b": normal(6, 2),
        "w": normal((6, 4), 3),
        "v": normal((6, 3), 4),
        "d": normal(4, 5),
    }
    bound = check(model_of(nodes, {"x": (2, 6)}, ["y", "z"], values), {"x": normal((2, 6))})
    assert len(bound.steps) == 7 + 2 + 2


@given(SHAPES, st.data())
def test_softmax(check, model_of, shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    check(
        model_of([node("Softmax", ["x"], ["y"], axis=axis)], {"x": shape}, ["y"]), {"x": normal(shape) * 20}
    )


@given(
    SHAPES,
    st.sampled_from(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"]),
    st.booleans(),
    st.sampled_from([17, 18]),
    st.data(),
)
def test_reduce(check, model_of, shape, operator, keep, opset, data):
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    as_input = opset == 18 or operator == "ReduceSum"
    inputs, attributes = (["x", "axes"], {}) if as_input else (["x"], {"axes": axes})
    made = node(operator, inputs, ["y"], keepdims=int(keep), **attributes)
    check(
        model_of([made], {"x": shape}, ["y"], {"axes": ints(axes)} if as_input else {}, opset=opset),
        {"x": normal(shape)},
    )


@given(SHAPES, st.data())
def test_movement_chain(check, model_of, shape, data):
    """Transpose, Unsqueeze, Reshape, Squeeze, Flatten in a row, with sizes taken from Shape."""
    perm = data.draw(st.permutations(range(len(shape))))
    axis = data.draw(st.integers(0, len(shape)))
    nodes = [
        node("Transpose", ["x"], ["a"], perm=perm),
        node("Unsqueeze", ["a", "axis"], ["b"]),
        node("Squeeze", ["b", "axis"], ["c"]),
        node("Shape", ["x"], ["s"]),
        node("Reshape", ["c", "s"], ["d"]),
        node("Exp", ["d"], ["e"]),
        node("Flatten", ["e"], ["f"], axis=data.draw(st.integers(0, len(shape)))),
        node("Reshape", ["f", "rest"], ["y"]),
        node("Size", ["x"], ["n"]),
    ]
    sizes, dims = named(shape)
    model = model_of(
        nodes, {"x": sizes}, ["y", "n"], {"axis": ints([axis]), "rest": ints([-1])}, types={"n": "int64"}
    )
    check(model, {"x": normal(shape)}, dims, slack=2)


@given(SHAPES, st.data())
def test_slice(check, model_of, shape, data):
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    bound = st.sampled_from([-(2**62), -7, -3, -2, -1, 0, 1, 2, 3, 8, 2**62])
    steps = [data.draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in axes]
    ends = [data.draw(bound) for _ in axes]
    # Backwards from before the first element, the two oracles disagree: start inside.
    starts = [
        data.draw(bound if step > 0 else st.integers(-shape[a], 8))
        for a, step in zip(axes, steps, strict=True)
    ]
    values = {"starts": ints(starts), "ends": ints(ends), "axes": ints(axes), "steps": ints(steps)}
    model = model_of(
        [node("Slice", ["x", *values], ["a"]), node("Neg", ["a"], ["y"])], {"x": shape}, ["y"], values
    )
    check(model, {"x": normal(shape)})


@given(SHAPES, st.data())
def test_split_and_concat(check, model_of, shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    shape[axis] = sum(sizes)
    names = [f"p{i}" for i in range(len(sizes))]
    order = data.draw(st.permutations(names))
    nodes = [
        node("Split", ["x", "sizes"], names, axis=axis),
        node("Concat", order, ["a"], axis=axis),
        node("Exp", ["a"], ["y"]),
    ]
    nodes.append(node("Sigmoid", [names[0]], ["z"]))
    check(model_of(nodes, {"x": shape}, ["y", "z"], {"sizes": ints(sizes)}), {"x": normal(shape)})


def test_split_in_equal_parts(check, model_of):
    nodes = [node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2), node("Add", ["a", "b"], ["y"])]
    check(model_of(nodes, {"x": (2, "T")}, ["y"], opset=18), {"x": normal((2, 6))}, {"T": 6}, slack=3)


@given(SHAPES, st.booleans(), st.data())
def test_gather(check, model_of, shape, constant, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = shape[axis]
    index = data.draw(st.sampled_from([(), (1,), (4,), (2, 3)]))
    values = {"i": np.random.default_rng(1).integers(-size, size, index)}
    inputs = {"x": shape} if constant else {"x": shape, "i": index}
    nodes = [node("Gather", ["x", "i"], ["a"], axis=axis), node("Exp", ["a"], ["y"])]
    model = model_of(nodes, inputs, ["y"], values if constant else {}, types={"i": "int64"})
    check(model, {"x": normal(shape), **({} if constant else values)})


@given(SHAPES, st.data())
def test_expand(check, model_of, shape, data):
    target = [data.draw(st.integers(1, 3)) if size == 1 else size for size in shape]
    target = [2, *target]
    nodes = [node("Expand", ["x", "s"], ["a"]), node("Neg", ["a"], ["y"])]
    check(model_of(nodes, {"x": shape}, ["y"], {"s": ints(target)}), {"x": normal(shape)})


@given(SHAPES, st.sampled_from(["constant", "edge", "reflect"]), st.data())
def test_pad(check, model_of, shape, mode, data):
    shape = [size + 2 for size in shape]
    axis = data.draw(st.integers(0, len(shape) - 1))
    widths = [[0, 0] for _ in shape]
    for each in range(len(shape)) if mode == "constant" else [axis]:
        widths[each] = [data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))]
    pads = ints([before for before, _ in widths] + [after for _, after in widths])
    names = ["x", "pads", "v"] if mode == "constant" else ["x", "pads"]
    model = model_of(
        [node("Pad", names, ["y"], mode=mode)], {"x": shape}, ["y"], {"pads": pads, "v": np.float32(0.5)}
    )
    check(model, {"x": normal(shape)})


def test_pad_with_negative_widths_cuts(model_of, bound_of, run):
    model = model_of(
        [node("Pad", ["x", "pads"], ["y"])], {"x": (3, 4)}, ["y"], {"pads": ints([-1, 2, 1, -2])}
    )
    x = normal((3, 4))
    _, bound = bound_of(model, {}, {})
    np.testing.assert_array_equal(run(bound, {"x": x})["y"], np.pad(x[1:, :2], ((0, 1), (2, 0))))


@given(st.integers(1, 9), st.integers(1, 4))
def test_sizes_at_bind_time(check, model_of, frames, width):
    """Range, ConstantOfShape, index maths and Constant, all from the size of x."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["t"]),
        node("Range", ["zero", "t", "one"], ["r"]),
        node("Unsqueeze", ["r", "axis"], ["column"]),
        node("Sub", ["r", "column"], ["distance"]),
        node("Clip", ["distance", "low", "high"], ["near"]),
        node("Add", ["near", "high"], ["index"]),
        node("Gather", ["table", "index"], ["bias"]),
        node("Cast", ["r"], ["position"], to=1),
        node("ConstantOfShape", ["s"], ["fives"], value=numpy_helper.from_array(np.array([5], np.float32))),
        node("Constant", [], ["half"], value_float=0.5),
        node("Mul", ["fives", "half"], ["m"]),
        node("Add", ["x", "m"], ["y"]),
        node("Div", ["t", "two"], ["middle"]),
        node("Unsqueeze", ["middle", "axis0"], ["to"]),
        node("Slice", ["x", "begin", "to"], ["first"]),
    ]
    values = {
        "zero": ints(0),
        "one": ints(1),
        "two": ints(2),
        "low": ints(-2),
        "high": ints(2),
        "axis": ints([1]),
    }
    values |= {"table": normal((5, 2)), "begin": ints([0]), "axis0": ints([0])}
    model = model_of(nodes, {"x": ("T", width)}, ["y", "bias", "position", "first"], values)
    bound = check(model, {"x": normal((frames, width))}, {"T": frames}, slack=2)
    assert len(bound.steps) <= 4


def test_large_values_of_sizes_are_computed_at_run_time(check, model_of):
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Squeeze", ["s"], ["t"]),
        node("Range", ["zero", "t", "one"], ["r"]),
        node("Unsqueeze", ["r", "axis"], ["column"]),
        node("Sub", ["r", "column"], ["distance"]),
        node("Clip", ["distance", "low", "high"], ["near"]),
        node("Add", ["near", "high"], ["index"]),
        node("Gather", ["table", "index"], ["bias"]),
        node("Add", ["bias", "x"], ["y"]),
    ]
    values = {
        "zero": ints(0),
        "one": ints(1),
        "low": ints(-2),
        "high": ints(2),
        "axis": ints([1]),
        "table": normal(5),
    }
    bound = check(model_of(nodes, {"x": ("T",)}, ["y"], values), {"x": normal(30)}, {"T": 30}, slack=9)
    assert len(bound.steps) == 6


@given(st.integers(1, 4), st.integers(1, 5), st.booleans())
def test_int8_weights_expand_at_load(check, model_of, k, n, zero):
    values = {
        "q": np.random.default_rng(0).integers(-128, 128, (k, n)).astype(np.int8),
        "s": np.abs(normal(n)) + 0.1,
    }
    values |= {"z": np.arange(n).astype(np.int8)} if zero else {}
    nodes = [node("DequantizeLinear", list(values), ["w"], axis=1), node("MatMul", ["x", "w"], ["y"])]
    bound = check(model_of(nodes, {"x": (2, k)}, ["y"], values, opset=19), {"x": normal((2, k))}, rtol=1e-4)
    assert len(bound.steps) == 1


@given(SHAPES, st.booleans())
def test_quantise_and_back(check, model_of, shape, signed):
    values = {"s": np.float32(0.05), "z": np.array(3, np.int8 if signed else np.uint8)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    check(model_of(nodes, {"x": shape}, ["y"], values, opset=19), {"x": normal(shape) * 5})


@given(st.integers(1, 9), st.integers(1, 3))
def test_sparse_linear(check, model_of, frames, blocks):
    """2:4 along the input, one pattern a block of outputs: one take, one batched product."""
    k, v = 8, 4
    index = np.sort(
        np.random.default_rng(0).permuted(np.tile(np.arange(k), (blocks, 1)), axis=1)[:, : k // 2], axis=1
    )
    values = {
        "i": ints(index),
        "q": np.random.default_rng(1).integers(-99, 99, (blocks, k // 2, v)).astype(np.int8),
    }
    values |= {"s": np.float32(0.01), "shape": ints([1, -1, blocks * v]), "b": normal(blocks * v)}
    nodes = [
        node("Gather", ["x", "i"], ["g"], axis=2),
        node("Transpose", ["g"], ["t"], perm=[0, 2, 1, 3]),
        node("DequantizeLinear", ["q", "s"], ["w"]),
        node("MatMul", ["t", "w"], ["m"]),
        node("Transpose", ["m"], ["u"], perm=[0, 2, 1, 3]),
        node("Reshape", ["u", "shape"], ["r"]),
        node("Add", ["r", "b"], ["y"]),
    ]
    bound = check(
        model_of(nodes, {"x": (1, "T", k)}, ["y"], values, opset=19),
        {"x": normal((1, frames, k))},
        {"T": frames},
        slack=3,
    )
    assert [kernel.__name__ for kernel, _ in bound.steps] == ["take", "matmul", "add"]


@given(st.data())
def test_random_graphs(check, model_of, data):
    """Chains that share values, so that in-place and memory reuse have something to get wrong."""
    width, frames = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 6))
    names, nodes = ["x", "y"], []
    for i in range(data.draw(st.integers(3, 14))):
        pick = lambda: data.draw(st.sampled_from(names[-5:]))  # noqa: E731
        out = f"v{i}"
        kind = data.draw(
            st.sampled_from(["Tanh", "Add", "Mul", "Softmax", "MatMul", "Shift", "Turn", "Join"])
        )
        if kind in ("Tanh", "Softmax"):
            nodes.append(node(kind, [pick()], [out]))
        elif kind in ("Add", "Mul"):
            nodes += [node(kind, [pick(), pick()], [f"{out}:a"]), node("Sigmoid", [f"{out}:a"], [out])]
        elif kind == "MatMul":
            nodes.append(node("MatMul", [pick(), "w"], [out]))
        elif kind == "Shift":
            nodes += [
                node("Concat", ["pad", pick()], [f"{out}:a"], axis=1),
                node("Slice", [f"{out}:a", "zero", "last", "one"], [out]),
            ]
        elif kind == "Turn":
            nodes += [
                node("Transpose", [pick()], [f"{out}:a"], perm=[0, 2, 1]),
                node("Relu", [f"{out}:a"], [f"{out}:b"]),
            ]
            nodes.append(node("Transpose", [f"{out}:b"], [out], perm=[0, 2, 1]))
        else:
            nodes += [
                node("Split", [pick()], [f"{out}:a", f"{out}:b"], axis=2),
                node("Concat", [f"{out}:b", f"{out}:a"], [out], axis=2),
            ]
        names.append(out)
    values = {"w": normal((2 * width, 2 * width), 2) / 3, "pad": normal((1, 1, 2 * width), 3)}
    values |= {"zero": ints([0]), "last": ints([-1]), "one": ints([1])}
    split = [n for n in nodes if n.op_type == "Split"]
    for n in split:
        n.attribute.append(helper.make_attribute("num_outputs", 2))
    outputs = list(dict.fromkeys([names[-1], data.draw(st.sampled_from(names[2:]))]))
    model = model_of(nodes, {"x": (1, "T", 2 * width), "y": (1, "T", 2 * width)}, outputs, values, opset=18)
    shape = (1, frames, 2 * width)
    check(
        model, {"x": normal(shape), "y": normal(shape, 1)}, {"T": frames}, slack=data.draw(st.integers(1, 3))
    )


def test_shape_that_depends_on_data_is_refused(model_of):
    nodes = [node("Cast", ["x"], ["s"], to=7), node("Reshape", ["y", "s"], ["z"])]
    model = model_of(nodes, {"x": (2,), "y": (4,)}, ["z"])
    with pytest.raises(ModelError, match="'s'"):
        Program(load_graph(model), {})


def test_conv_with_unknown_weights_or_two_axes_is_refused(model_of):
    conv = node("Conv", ["x", "w"], ["y"], name="c")
    with pytest.raises(ModelError, match="'c'"):
        Program(load_graph(model_of([conv], {"x": (1, 2, 5), "w": (2, 2, 3)}, ["y"])), {})
    with pytest.raises(ModelError, match="'c'"):
        Program(load_graph(model_of([conv], {"x": (1, 1, 5, 5)}, ["y"], {"w": normal((1, 1, 3, 3))})), {})


def test_sizes_that_do_not_fit_name_the_node(model_of):
    model = model_of([node("Add", ["x", "y"], ["z"], name="sum")], {"x": (2,), "y": (3,)}, ["z"])
    with pytest.raises(ModelError, match="sum"):
        Program(load_graph(model), {})
