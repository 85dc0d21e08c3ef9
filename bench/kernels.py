"""µs a run of a ConvNeXt and a chunked-attention block, the engine against onnxruntime on the same file.

Run with `OPENBLAS_NUM_THREADS=1 python bench/kernels.py`. Both engines take turns within one process, on one
thread, and the best of several rounds counts, so the ratio means something on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import onnxruntime
from onnx import NodeProto, TensorProto, helper, numpy_helper
from stonechat.engine import Bound, Program, load_graph

WIDTH, HIDDEN, TAPS = 224, 672, 13
HEADS, BLOCK, LEFT = 4, 3, 24
FRAMES = (3, 12, 75)
ROUNDS, ROUND_S = 9, 0.02
Values = dict[str, np.ndarray]


def random(*shape: int) -> np.ndarray:
    return (np.random.default_rng(sum(shape)).standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def model(nodes: list[NodeProto], constants: Values, state: tuple[int, ...]) -> bytes:
    def info(name: str, shape: tuple[int | str, ...]) -> object:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    frames = (1, "T", WIDTH)
    graph = helper.make_graph(
        nodes,
        "block",
        [info("x", frames), info("a_state_in", state)],
        [info("y", frames), info("a_state_out", state)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return bytes(made.SerializeToString())


def convnext() -> bytes:
    """State and 13-tap depthwise convolution, norm, 224 -> 672 -> 224, residual."""
    node = helper.make_node
    nodes = [
        node("Concat", ["a_state_in", "x"], ["whole"], axis=1),
        node("Slice", ["whole", "tail", "far", "one"], ["a_state_out"]),
        node("Transpose", ["whole"], ["turned"], perm=[0, 2, 1]),
        node("Conv", ["turned", "taps", "b0"], ["mixed"], group=WIDTH, kernel_shape=[TAPS]),
        node("Transpose", ["mixed"], ["rows"], perm=[0, 2, 1]),
        node("LayerNormalization", ["rows", "ones"], ["normal"], axis=-1),
        node("MatMul", ["normal", "up"], ["u0"]),
        node("Add", ["u0", "b1"], ["u1"]),
        node("Relu", ["u1"], ["u2"]),
        node("MatMul", ["u2", "down"], ["d0"]),
        node("Add", ["d0", "b2"], ["d1"]),
        node("Add", ["x", "d1"], ["y"]),
    ]
    constants = {"taps": random(WIDTH, 1, TAPS), "up": random(WIDTH, HIDDEN), "down": random(HIDDEN, WIDTH)}
    constants |= {"b0": random(WIDTH), "b1": random(HIDDEN), "b2": random(WIDTH)}
    constants |= {
        "tail": ints(1 - TAPS),
        "far": ints(2**62),
        "one": ints(1),
        "ones": np.ones(WIDTH, np.float32),
    }
    return model(nodes, constants, (1, TAPS - 1, WIDTH))


def attention() -> bytes:
    """Blocks of 3 frames attend to themselves and the 24 frames before; keys and values are the state."""
    node, each = helper.make_node, WIDTH // HEADS
    nodes = [
        node("LayerNormalization", ["x", "ones"], ["normal"], axis=-1),
        node("MatMul", ["normal", "qkv"], ["m"]),
        node("Add", ["m", "b0"], ["three"]),
        node("Split", ["three", "parts"], ["q", "kv"], axis=-1),
        node("Concat", ["a_state_in", "kv"], ["past"], axis=1),
        node("Slice", ["past", "tail", "far", "one"], ["a_state_out"]),
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "one_"], ["t"]),
        node("Div", ["t", "block"], ["blocks"]),
        node("Range", ["zero", "blocks", "one_"], ["r"]),
        node("Unsqueeze", ["r", "one"], ["first"]),
        node("Add", ["first", "window"], ["index"]),
        node("Reshape", ["past", "as_blocks"], ["grouped"]),
        node("Gather", ["grouped", "index"], ["windows"], axis=1),
        node("Reshape", ["windows", "as_heads"], ["w"]),
        node("Transpose", ["w"], ["w2"], perm=[2, 0, 3, 1, 4]),
        node("Split", ["w2", "halves"], ["k4", "v4"], axis=0),
        node("Squeeze", ["k4", "axis0"], ["k"]),
        node("Squeeze", ["v4", "axis0"], ["v"]),
        node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
        node("Reshape", ["q", "as_queries"], ["q4"]),
        node("Transpose", ["q4"], ["qt"], perm=[0, 2, 1, 3]),
        node("MatMul", ["qt", "kt"], ["scores"]),
        node("Mul", ["scores", "scale"], ["scaled"]),
        node("Add", ["scaled", "bias"], ["biased"]),
        node("Softmax", ["biased"], ["soft"], axis=-1),
        node("MatMul", ["soft", "v"], ["av"]),
        node("Transpose", ["av"], ["av2"], perm=[0, 2, 1, 3]),
        node("Reshape", ["av2", "as_rows"], ["joined"]),
        node("MatMul", ["joined", "out"], ["o0"]),
        node("Add", ["o0", "b1"], ["o1"]),
        node("Add", ["x", "o1"], ["y"]),
    ]
    constants = {
        "qkv": random(WIDTH, 3 * WIDTH),
        "b0": random(3 * WIDTH),
        "out": random(WIDTH, WIDTH),
        "b1": random(WIDTH),
    }
    constants |= {"bias": random(HEADS, BLOCK, LEFT + BLOCK), "scale": np.array(each**-0.5, np.float32)}
    constants |= {"parts": ints(WIDTH, 2 * WIDTH), "halves": ints(1, 1), "axis0": ints(0), "one": ints(1)}
    constants |= {
        "tail": ints(-LEFT),
        "far": ints(2**62),
        "zero": ints(0)[0],
        "one_": ints(1)[0],
        "block": ints(BLOCK)[0],
    }
    constants |= {"window": np.arange(LEFT // BLOCK + 1)[None], "as_blocks": ints(1, -1, BLOCK * 2 * WIDTH)}
    constants |= {
        "as_heads": ints(-1, LEFT + BLOCK, 2, HEADS, each),
        "as_queries": ints(-1, BLOCK, HEADS, each),
    }
    constants |= {"as_rows": ints(1, -1, WIDTH), "ones": np.ones(WIDTH, np.float32)}
    return model(nodes, constants, (1, LEFT, 2 * WIDTH))


def ready(data: bytes) -> Program:
    program = Program(load_graph(data), {"T": max(FRAMES)})
    program.place(np.empty(program.weight_bytes, np.uint8), np.empty(program.arena_bytes, np.uint8))
    return program


def bind_us(program: Program, frames: int) -> tuple[Bound, float]:
    """A binding, and the least time of several that were never seen before (each has its own state)."""
    best = float("inf")
    states = [np.zeros(program.state_bytes, np.uint8) for _ in range(ROUNDS)]
    for state in states:
        start = time.perf_counter()
        bound = program.bind({"T": frames}, state)
        best = min(best, time.perf_counter() - start)
    return bound, best * 1e6


def ort_runner(data: bytes, x: np.ndarray, state: np.ndarray) -> Callable[[], object]:
    """One call of onnxruntime on one thread, inputs and outputs bound beforehand."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    inputs = {"x": x, "a_state_in": state}
    outputs = {"y": np.empty_like(x), "a_state_out": np.empty_like(state)}
    for name, array in inputs.items():
        binding.bind_input(name, "cpu", 0, np.float32, array.shape, array.ctypes.data)
    for name, array in outputs.items():
        binding.bind_output(name, "cpu", 0, np.float32, array.shape, array.ctypes.data)

    def run(_alive: tuple[Values, Values] = (inputs, outputs)) -> None:  # the binding holds bare addresses
        session.run_with_iobinding(binding)

    return run


def best_us(runs: list[Callable[[], object]]) -> list[float]:
    """Best µs a call of each, measured in turns."""
    best = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for i, run in enumerate(runs):
            end, count = time.perf_counter() + ROUND_S, 0
            while time.perf_counter() < end or count < 3:
                start = time.perf_counter()
                run()
                best[i] = min(best[i], time.perf_counter() - start)
                count += 1
    return [seconds * 1e6 for seconds in best]


def main() -> None:
    print(f"numpy {np.__version__}, onnxruntime {onnxruntime.__version__}, width {WIDTH}, one thread")
    print(f"{'block':12}{'T':>4}{'calls':>7}{'engine µs':>11}{'ort µs':>9}{'ratio':>7}{'bind µs':>9}")
    for name, data in (("convnext", convnext()), ("attention", attention())):
        program = ready(data)
        for frames in FRAMES:
            bound, bind = bind_us(program, frames)
            x, state = random(1, frames, WIDTH), np.zeros_like(bound.state["a_state"])
            bound.inputs["x"][...] = x
            ours, theirs = best_us([bound.run, ort_runner(data, x, state)])
            figures = f"{len(bound.steps):7}{ours:11.1f}{theirs:9.1f}{ours / theirs:7.2f}{bind:9.0f}"
            print(f"{name:12}{frames:4}{figures}")


if __name__ == "__main__":
    main()
