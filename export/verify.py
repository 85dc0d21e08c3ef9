"""Checks a voice pack before anyone hears it: three engines agree on every graph, sizes, and stream equals batch.

Against its float32 form: SNR of every stage and of the sound, and what remains of durations and F0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stonechat.engine import Program, load_graph
from stonechat.facts import GRAPHS, read_facts

TOLERANCE = 1e-4
FRAMES, PHONEMES = 24, 37
MAX_FLOAT_BYTES = 20_000_000
MAX_PACKED_BYTES = 6_000_000
"""Of a voice whose weights are INT8."""
LEAST_SHARE = 0.9
"""Of the weights of acoustic decoder and vocoder: 2:4, in a packed voice."""
MAX_DURATION_PERCENT, MAX_F0_CENTS = 1.0, 10.0


@dataclass(frozen=True)
class Check:
    """One line of the report: at most `limit`, or `at_least` it."""

    what: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def passed(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        side = "at least" if self.at_least else "at most"
        return (
            f"{'ok  ' if self.passed else 'FAIL'} {self.what:<50} {self.value:12.4g}  ({side} {self.limit:g})"
        )


def verify(folder: Path) -> list[Check]:
    """Every check of a voice pack; see `Check.passed`. VoiceError or ModelError when it cannot even be read."""
    read_facts(folder)
    checks = [check for name in GRAPHS for check in check_graph(folder / f"{name}.onnx")]
    size = sum(p.stat().st_size for p in folder.iterdir())
    if not is_packed(folder):
        return [*checks, Check("bytes of the pack", size, MAX_FLOAT_BYTES)]
    share = Check("share of weights that are 2:4", packed_share(folder), LEAST_SHARE, at_least=True)
    return [*checks, share, Check("bytes of the pack", size, MAX_PACKED_BYTES)]


def verify_against(folder: Path, reference: Path, texts: Path, count: int = 200) -> list[Check]:
    """A packed voice against its float32 form, speaking `count` clauses of a corpus or of a text file."""
    from .comparison import compare_packs
    from .quantise import GATE_DB

    found = compare_packs(reference, folder, texts, count)
    stages = [
        Check(f"{name}: SNR of its output, dB", value, GATE_DB, at_least=True)
        for name, value in found.stages_db.items()
    ]
    return [
        *stages,
        Check(
            f"sound: mean SNR over {len(found.sound_db)} clauses, dB", found.mean_db, GATE_DB, at_least=True
        ),
        Check("durations: mean deviation, %", found.duration_percent, MAX_DURATION_PERCENT),
        Check("F0: mean deviation, cents", found.f0_cents, MAX_F0_CENTS),
    ]


def is_packed(folder: Path) -> bool:
    """Whether a voice's weights are stored INT8."""
    graph = load_graph(folder / f"{GRAPHS[-1]}.onnx")
    return any(node.operator == "DequantizeLinear" for node in graph.nodes)


def packed_share(folder: Path) -> float:
    """Share of all weights of acoustic decoder and vocoder that a Gather reads two of four of."""
    sparse = total = 0
    for name in ("acoustic", "vocoder"):
        constants = load_graph(folder / f"{name}.onnx").constants
        for constant, value in constants.items():
            if value.ndim < 2 or constant.endswith(":index"):
                continue
            pruned = constant.rpartition(":")[0] + ":index" in constants
            sparse += 2 * value.size * pruned
            total += (1 + pruned) * value.size
    return sparse / total


def check_graph(path: Path) -> list[Check]:
    """The numpy engine against onnxruntime and onnx.reference on random inputs, and 3-frame blocks against one."""
    feeds = random_feeds(path)
    ours = run_numpy(path, feeds)
    checks = [
        Check(
            f"{path.stem}: numpy against onnxruntime",
            difference(ours, run_onnxruntime(path, feeds)),
            TOLERANCE,
        ),
        Check(
            f"{path.stem}: numpy against onnx.reference",
            difference(ours, run_reference(path, feeds)),
            TOLERANCE,
        ),
    ]
    if path.stem != "encoder":
        checks.append(
            Check(
                f"{path.stem}: blocks of 3 against one of {FRAMES}", stream_difference(path, feeds), TOLERANCE
            )
        )
    return checks


def random_feeds(path: Path) -> dict[str, NDArray[Any]]:
    """Plausible inputs for every input of a graph; streaming state is zero."""
    rng, sizes = np.random.default_rng(0), {"T": FRAMES, "N": PHONEMES}
    feeds: dict[str, NDArray[Any]] = {}
    for value in load_graph(path).inputs:
        shape = tuple(sizes[d] if isinstance(d, str) else d for d in value.shape)
        if value.dtype.kind == "i":
            feeds[value.name] = rng.integers(1, 170, shape)
        elif value.name.endswith("_state_in"):
            feeds[value.name] = np.zeros(shape, np.float32)
        else:
            feeds[value.name] = rng.standard_normal(shape).astype(np.float32)
    return feeds


def run_numpy(path: Path, feeds: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return _run_blocks(path, feeds, FRAMES)


def stream_difference(path: Path, feeds: Mapping[str, NDArray[Any]]) -> float:
    return difference(_run_blocks(path, feeds, 3), _run_blocks(path, feeds, FRAMES))


def _run_blocks(path: Path, feeds: Mapping[str, NDArray[Any]], block: int) -> dict[str, NDArray[Any]]:
    """Outputs of our engine (states left out), fed `block` frames at a time."""
    program = Program(load_graph(path), {"N": PHONEMES} if path.stem == "encoder" else {"T": FRAMES})
    program.place(np.zeros(program.weight_bytes + 64, np.uint8), np.zeros(program.arena_bytes + 64, np.uint8))
    state = np.zeros(program.state_bytes, np.uint8)
    if path.stem == "encoder":
        bound, steps = program.bind({"N": PHONEMES}, state), [slice(None)]
    else:
        bound, steps = (
            program.bind({"T": block}, state),
            [slice(i, i + block) for i in range(0, FRAMES, block)],
        )
    pieces: dict[str, list[NDArray[Any]]] = {}
    for step in steps:
        for name, view in bound.inputs.items():
            whole = name == "style" or path.stem == "encoder"
            view[...] = feeds[name] if whole else feeds[name][:, step]
        bound.run()
        for name, view in bound.outputs.items():
            pieces.setdefault(name, []).append(view.copy())
    return {name: np.concatenate(parts, 1) for name, parts in pieces.items()}


def run_onnxruntime(path: Path, feeds: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return dict(zip((o.name for o in session.get_outputs()), session.run(None, dict(feeds)), strict=True))


def reference_evaluator(model: Any) -> Any:
    """onnx.reference for a path or a model. It lacks DequantizeLinear before operator set 19: so this one, of INT8."""
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

    class DequantizeLinear(OpRun):
        op_domain = ""

        def _run(self, x: Any, scale: Any, zero_point: Any = None, axis: int = 1, **_: Any) -> tuple[Any]:
            along = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)] if scale.ndim else []
            shifted = x.astype(np.float32) - (0 if zero_point is None else zero_point.reshape(along))
            return (shifted * scale.reshape(along),)

    return ReferenceEvaluator(model, new_ops=[DequantizeLinear])


def run_reference(path: Path, feeds: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    reference = reference_evaluator(str(path))
    return dict(zip(reference.output_names, reference.run(None, dict(feeds)), strict=True))


def difference(ours: Mapping[str, NDArray[Any]], theirs: Mapping[str, NDArray[Any]]) -> float:
    """Largest difference of any shared output, relative to that output's own size."""
    return max(
        float(np.abs(a - theirs[n]).max() / max(1.0, np.abs(theirs[n]).max())) for n, a in ours.items()
    )
