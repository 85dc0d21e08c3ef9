"""From a run's averaged weights to a voice pack: four ONNX graphs, voice.json and a model card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .network import CHUNK, LOOKAHEAD, NetworkConfig, Student
from .onnx_graphs import export_graphs
from .synthesis import HOP, LOG_F0_CENTRE, RATE_HZ, TOP_HZ, WINDOW

FORMAT = 1
SPEAKER_NAMES = {"zf_xiaobei": "xiaobei", "af_heart": "heart"}


def load_weights(path: Path) -> tuple[NetworkConfig, dict[str, Tensor], int]:
    """Network, averaged weights as float32 and steps trained, from a checkpoint or from `save_weights`' file."""
    state: Mapping[str, Any] = torch.load(path, weights_only=True)
    weights = {k: v.float() for k, v in state["average"].items()}
    return NetworkConfig(**state["network"]), weights, int(state["step"])


def save_weights(student: Student, step: int, path: Path) -> None:
    """Weights alone, float16: small enough for git, enough to train on from."""
    half = {k: v.half() for k, v in student.state_dict().items()}
    torch.save({"network": vars(student.config), "average": half, "step": step}, path)


def load_student(path: Path) -> tuple[Student, int]:
    """A student with averaged weights, ready to run, and its steps."""
    config, weights, step = load_weights(path)
    student = Student(config)
    student.load_state_dict(weights)
    return student.eval(), step


def describe(
    student: Student, name: str, speakers: tuple[str, ...], card: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of voice.json: what `runtime/facts.py` reads."""
    names = [SPEAKER_NAMES.get(s, s) for s in speakers]
    return {
        "format": FORMAT,
        "name": name,
        "rate_hz": RATE_HZ,
        "hop": HOP,
        "window": WINDOW,
        "chunk_frames": CHUNK,
        "lookahead_frames": LOOKAHEAD,
        "duration_unit": 600,
        "log_f0_centre": LOG_F0_CENTRE,
        "top_hz": TOP_HZ,
        "speakers": {n: i for i, n in enumerate(names)},
        "defaults": {"zh": names[0], "en": names[-1]},
        "styles": [[round(float(v), 6) for v in row] for row in student.styles.weight.tolist()],
        "card": dict(card),
    }


def write_pack(
    student: Student, folder: Path, name: str, speakers: tuple[str, ...], card: Mapping[str, Any]
) -> None:
    """Write the voice pack `folder`: the graphs and voice.json."""
    export_graphs(student, folder)
    facts = describe(student, name, speakers, card)
    (folder / "voice.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1), "utf8")
