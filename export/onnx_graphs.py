"""The student's four graphs as ONNX files; streaming state is explicit (`*_state_in`, `*_state_out`)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from .network import Student

OPSET = 19
"""The first whose DequantizeLinear onnx.reference knows."""


@dataclass(frozen=True)
class GraphSpec:
    """What one exported graph is called, takes and gives; `inputs` are examples with their dynamic axis 1."""

    name: str
    module: nn.Module
    inputs: dict[str, Tensor]
    outputs: tuple[str, ...]
    states: dict[str, Tensor]
    dynamic: dict[str, dict[int, str]]


class Flat(nn.Module):
    """Gives a module's list of states flat names: (x…, state…) -> (y, state…)."""

    def __init__(self, module: nn.Module, states: int) -> None:
        super().__init__()
        self.module, self.states = module, states

    def forward(self, *args: Tensor) -> tuple[Tensor, ...]:
        plain = args[: len(args) - self.states]
        y, after = self.module(*plain, list(args[len(plain) :]))
        return y, *after


def _states(prefixes: list[str], tensors: list[Tensor]) -> dict[str, Tensor]:
    return {f"{p}_state": t for p, t in zip(prefixes, tensors, strict=True)}


def specs(student: Student, phonemes: int = 40, frames: int = 12) -> list[GraphSpec]:
    """The four graphs with example inputs."""
    c, t, style = student.config, {1: "T"}, torch.zeros(1, student.config.style)
    pitch = _states(["conv0", "conv1", "conv2"], student.pitch.states(1))
    acoustic = _states(["conv", "attention0", "attention1", "attention2"], student.acoustic.states(1))
    vocoder = _states([f"conv{i}" for i in range(c.vocoder_blocks)], student.vocoder.states(1))
    return [
        GraphSpec(
            "encoder",
            student.encoder,
            {"ids": torch.zeros(1, phonemes, dtype=torch.int64), "style": style},
            ("h", "log_duration"),
            {},
            {"ids": {1: "N"}, "h": {1: "N"}, "log_duration": {1: "N"}},
        ),
        GraphSpec(
            "pitch",
            Flat(student.pitch, len(pitch)),
            {"frames": torch.zeros(1, frames, c.encoder + 2)},
            ("prosody",),
            pitch,
            {"frames": t, "prosody": t},
        ),
        GraphSpec(
            "acoustic",
            Flat(student.acoustic, len(acoustic)),
            {"frames": torch.zeros(1, frames, c.encoder + 5), "style": style},
            ("features",),
            acoustic,
            {"frames": t, "features": t},
        ),
        GraphSpec(
            "vocoder",
            Flat(student.vocoder, len(vocoder)),
            {"features": torch.zeros(1, frames, c.acoustic), "f0": torch.zeros(1, frames, 2)},
            ("spectrum",),
            vocoder,
            {"features": t, "f0": t, "spectrum": t},
        ),
    ]


def export_graph(spec: GraphSpec, folder: Path) -> Path:
    """Trace, simplify where onnxsim is installed, check and write one graph; returns its path."""
    path = folder / f"{spec.name}.onnx"
    names_in = [*spec.inputs, *(f"{s}_in" for s in spec.states)]
    names_out = [*spec.outputs, *(f"{s}_out" for s in spec.states)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            spec.module.eval(),
            (*spec.inputs.values(), *spec.states.values()),
            str(path),
            input_names=names_in,
            output_names=names_out,
            dynamic_axes=spec.dynamic,
            opset_version=OPSET,
            dynamo=False,
        )
    model = _simplified(onnx.load(path))
    model.graph.name = spec.name
    for value in model.graph.output:  # the tracer forgets the sizes of states
        if value.name.removesuffix("_out") in spec.states:
            before = next(i for i in model.graph.input if i.name == value.name.replace("_out", "_in"))
            value.type.CopyFrom(before.type)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def _simplified(model: onnx.ModelProto) -> onnx.ModelProto:
    import onnxsim

    simple, same = onnxsim.simplify(model)
    if not same:
        raise ValueError(f"onnxsim changed what {model.graph.name} computes; report the graph")
    return simple


def export_graphs(student: Student, folder: Path) -> list[Path]:
    """Write encoder.onnx, pitch.onnx, acoustic.onnx and vocoder.onnx into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    return [export_graph(spec, folder) for spec in specs(student)]
