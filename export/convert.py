"""Any ONNX model within the engine's operators: prune by magnitude (optional), quantise, pack, report.

Refuses what the engine cannot run before anything long begins, naming every operator. Calibration data is a .npz with
an array for each input: one example in the input's own shape, or several stacked along one more axis in front;
streaming states (*_state_in) may be left out and are zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import version_converter
from stonechat.engine import Graph, Program, load_graph
from stonechat.engine.graph import OPSETS
from stonechat.engine.kernels import OPERATORS
from stonechat.errors import ModelError, OptionError

from .compact import compact, find_layers, patterns_of, set_values, values_of
from .comparison import Comparison
from .listening import snr_db
from .prune import OUTPUTS, magnitude_mask, prunable
from .quantise import GATE_DB, Models, quantise
from .report import write_report

Example = dict[str, NDArray[Any]]
FEWEST_INPUTS = 32
"""Layers with fewer inputs gain nothing by a Gather."""


@dataclass(frozen=True)
class Converted:
    """What came out."""

    model: onnx.ModelProto
    report: dict[str, Any]


def convert(path: Path, data: Path, work: Path, prune: bool = False, gate_db: float = GATE_DB) -> Converted:
    """Pack a model; report.json and report.html go into `work`.

    ModelError: operators, shapes or a layout that the engine does not run, or a result below the gate.
    """
    model = read_model(path)
    examples = read_examples(data, load_graph(model.SerializeToString()))
    name = path.stem
    original = Judge({name: model}, examples)
    pruned_db = 200.0
    if prune:
        model = prune_model(model)
        pruned_db = original.score({name: model})
    judge = Judge({name: model}, examples)
    plan = quantise({name: model}, judge.score, gate_db)
    packed = compact(model, plan.of(name), patterns_of(model))
    rows = judge.each({name: packed})
    found = Comparison({name: float(np.mean(rows))}, rows, 0.0, 0.0)
    work.mkdir(parents=True, exist_ok=True)
    report = write_report(
        work, {name: model}, {name: packed}, plan, found, gate_db, {"pruned_db": round(pruned_db, 2)}
    )
    if found.mean_db < gate_db:
        raise ModelError(f"{path}: {found.mean_db:.1f} dB even in float16, below the gate of {gate_db:g} dB")
    return Converted(packed, report)


def read_model(path: Path) -> onnx.ModelProto:
    """The model, brought to an operator set the engine reads. ModelError names everything it cannot run."""
    try:
        model = onnx.load(path)
    except Exception as error:  # protobuf's own errors have no common class across its versions
        raise ModelError(f"{path} is no ONNX model ({error}); give the .onnx file itself") from error
    foreign = Counter(_operator(n) for n in model.graph.node if n.domain or n.op_type not in OPERATORS)
    if foreign:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(foreign.items()))
        raise ModelError(f"{path} uses operators that the engine does not run: {listed}")
    version = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    if version not in OPSETS:
        model = _upgraded(model, path, version)
    load_graph(model.SerializeToString())
    return model


def _operator(node: onnx.NodeProto) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else str(node.op_type)


def _upgraded(model: onnx.ModelProto, path: Path, version: int) -> onnx.ModelProto:
    try:
        return version_converter.convert_version(model, OPSETS[0])
    except Exception as error:  # the converter raises whatever its C++ side throws
        raise ModelError(
            f"{path} has operator set {version}, which onnx cannot convert ({error}); export it with opset_version=17"
        ) from error


def read_examples(data: Path, graph: Graph) -> list[Example]:
    """Examples by input name. OptionError where the file does not fit the graph's inputs."""
    try:
        with np.load(data) as file:
            given = dict(file)
    except (OSError, ValueError) as error:
        raise OptionError(f"{data} is no .npz file ({error}); write one with numpy.savez") from error
    wanted = {v.name: v for v in graph.inputs}
    needed = {name for name in wanted if not name.endswith("_state_in")}
    if needed - given.keys() or given.keys() - wanted.keys():
        raise OptionError(f"{data} holds {sorted(given)}, the model's inputs are {sorted(wanted)}")
    stacked = {n: x if x.ndim == len(wanted[n].shape) + 1 else x[None] for n, x in given.items()}
    count = max(len(x) for x in stacked.values())
    for name, x in stacked.items():
        if x.ndim != len(wanted[name].shape) + 1 or len(x) not in (1, count):
            raise OptionError(f"{data}: {name} is {given[name].shape}, the model wants {wanted[name].shape}")
    return [
        {n: x[i if len(x) > 1 else 0].astype(wanted[n].dtype) for n, x in stacked.items()}
        for i in range(count)
    ]


def prune_model(model: onnx.ModelProto, wish: int = OUTPUTS) -> onnx.ModelProto:
    """A copy whose MatMul weights are 2:4 by magnitude."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for layer in find_layers(model).values():
        rows = values_of(model, layer)
        if layer.operator == "MatMul" and prunable(rows.shape[1]) and rows.shape[1] >= FEWEST_INPUTS:
            set_values(made, layer, rows * magnitude_mask(torch.from_numpy(rows), wish).numpy())
    return made


class Judge:
    """The outputs of the reference on every example, and the SNR of another form's."""

    def __init__(self, models: Models, examples: list[Example]) -> None:
        self.examples = examples
        ((self.name, model),) = models.items()
        self.wanted = self._outputs(model)

    def _outputs(self, model: onnx.ModelProto) -> list[Example]:
        graph = load_graph(model.SerializeToString())
        dims = [sizes_of(graph, example) for example in self.examples]
        program = Program(graph, {name: max(d[name] for d in dims) for name in dims[0]})
        program.place(
            np.zeros(program.weight_bytes + 64, np.uint8), np.zeros(program.arena_bytes + 64, np.uint8)
        )
        state, made = np.zeros(program.state_bytes, np.uint8), []
        for example, sizes in zip(self.examples, dims, strict=True):
            state.fill(0)
            bound = program.bind(sizes, state)
            for name, value in example.items():
                view = bound.inputs[name] if name in bound.inputs else bound.state[name.removesuffix("_in")]
                view[...] = value
            bound.run()
            made.append({n: x.astype(np.float32) for n, x in bound.outputs.items()})
        return made

    def each(self, changed: Mapping[str, onnx.ModelProto]) -> list[float]:
        """SNR in dB by example: of the worst of its outputs."""
        made = self._outputs(changed[self.name])
        pairs = zip(self.wanted, made, strict=True)
        return [min(snr_db(x, other[n]) for n, x in one.items()) for one, other in pairs]

    def score(self, changed: Mapping[str, onnx.ModelProto]) -> float:
        return float(np.mean(self.each(changed)))


def sizes_of(graph: Graph, example: Example) -> dict[str, int]:
    """The named sizes that an example gives. OptionError where two inputs disagree or a fixed size differs."""
    found: dict[str, int] = {}
    for value in graph.inputs:
        if value.name not in example:
            continue
        for size, there in zip(value.shape, example[value.name].shape, strict=True):
            wanted = found.setdefault(size, there) if isinstance(size, str) else size
            if wanted != there:
                raise OptionError(
                    f"{value.name} of the calibration data has {there} where {wanted} is wanted"
                )
    return found
