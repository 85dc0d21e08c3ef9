"""Checks a voice pack before anyone hears it: three engines agree on every graph, sizes, and stream equals batch."""

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
MAX_PACK_BYTES = 20_000_000


@dataclass(frozen=True)
class Check:
    """One line of the report."""

    what: str
    value: float
    limit: float

    @property
    def passed(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        return (
            f"{'ok  ' if self.passed else 'FAIL'} {self.what:<44} {self.value:12.3g}  (limit {self.limit:g})"
        )


def verify(folder: Path) -> list[Check]:
    """Every check of a voice pack; see `Check.passed`. VoiceError or ModelError when it cannot even be read."""
    read_facts(folder)
    checks = [check for name in GRAPHS for check in check_graph(folder / f"{name}.onnx")]
    size = sum(p.stat().st_size for p in folder.iterdir())
    return [*checks, Check("bytes of the pack", size, MAX_PACK_BYTES)]


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


def run_reference(path: Path, feeds: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    from onnx.reference import ReferenceEvaluator

    reference = ReferenceEvaluator(str(path))
    return dict(zip(reference.output_names, reference.run(None, dict(feeds)), strict=True))


def difference(ours: Mapping[str, NDArray[Any]], theirs: Mapping[str, NDArray[Any]]) -> float:
    """Largest difference of any shared output, relative to that output's own size."""
    return max(
        float(np.abs(a - theirs[n]).max() / max(1.0, np.abs(theirs[n]).max())) for n, a in ours.items()
    )
