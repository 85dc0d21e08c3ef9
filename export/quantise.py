"""INT8: which weights may be, found by measuring what each does to the result.

Weights are static INT8 with a scale for an output and a group of its inputs. Each layer is made INT8 alone and the
result compared; noise adds up, so where all together stay below the gate, the layers that do the most harm for their
bytes fall back to float16, until the measured whole passes.

Activations can be INT8 too (QuantizeLinear, DequantizeLinear), by ranges of least KL divergence. No engine here gains
by it (numpy has no INT8 GEMM) and a voice does not survive it at 42 dB, so it is an option; an activation falls back
to float32 on its own. neural-compressor 2.6 serves for the histograms and the KL thresholds. Its tuning is not used:
it falls back to float32 only, has no scale for groups of inputs, knows no streaming state, and scores a model, not a
voice of four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tqdm import tqdm

from .compact import Pattern, compact, find_layers, patterns_of

Models = Mapping[str, onnx.ModelProto]
Score = Callable[[Models], float]
"""SNR in dB of a result made with these graphs in place of the reference's, mean over what is tried."""
Key = tuple[str, str]
"""Graph, and name of a layer's weight."""
Range = tuple[float, float]
GATE_DB = 42.0
MARGIN_DB = 0.5
"""Aimed at above the gate: other sentences than the tuned ones are a little worse or better."""
BINS, LEVELS = 2048, 128


@dataclass
class Plan:
    """What is decided for each layer, and what was measured."""

    stored: dict[Key, str]
    noise_db: dict[Key, float]
    """SNR with this layer alone in INT8."""
    snr_db: float
    """SNR of all together, as decided."""
    activations: dict[Key, Range] = field(default_factory=dict)
    """Layers whose input is INT8, and its range."""
    activations_db: dict[Key, float] = field(default_factory=dict)
    """SNR with this input alone in INT8."""

    def of(self, graph: str) -> dict[str, str]:
        return {name: kind for (g, name), kind in self.stored.items() if g == graph}


def noise(snr_db: float) -> float:
    """Noise power relative to the signal's."""
    return float(10 ** (-snr_db / 10))


def quantise(
    models: Models, score: Score, gate_db: float = GATE_DB, say: Callable[[str], None] = print
) -> Plan:
    """Decide what is INT8 and what falls back to float16, so that `score` reaches `gate_db`."""
    layers = {(g, n): x for g, model in models.items() for n, x in find_layers(model).items()}
    patterns = {g: patterns_of(model) for g, model in models.items()}
    alone = {}
    for graph, name in tqdm(layers, unit="layer", desc="INT8, each alone"):
        made = compact(models[graph], {name: "int8"}, patterns[graph])
        alone[graph, name] = score({graph: made})
    sizes = {key: layer.size for key, layer in layers.items()}
    aim = gate_db + MARGIN_DB
    plan = Plan(fall_back(alone, sizes, noise(aim)), alone, 0.0)
    while True:
        plan.snr_db = score({g: compact(m, plan.of(g), patterns[g]) for g, m in models.items()})
        fallen = sum(kind == "float16" for kind in plan.stored.values())
        say(f"{plan.snr_db:.1f} dB with {fallen} of {len(layers)} layers in float16")
        if plan.snr_db >= gate_db + MARGIN_DB or fallen == len(layers):
            return plan
        aim += max(0.25, gate_db + MARGIN_DB - plan.snr_db)
        plan.stored = fall_back(alone, sizes, noise(aim))


def fall_back(alone: Mapping[Key, float], sizes: Mapping[Key, int], budget: float) -> dict[Key, str]:
    """INT8 or float16 by layer: those with the most noise a byte fall back, until the rest's noise fits."""
    stored, total = dict.fromkeys(alone, "int8"), sum(map(noise, alone.values()))
    for key in sorted(alone, key=lambda k: noise(alone[k]) / sizes[k], reverse=True):
        if total <= budget:
            break
        stored[key] = "float16"
        total -= noise(alone[key])
    return stored


def quantise_activations(
    models: Models, plan: Plan, ranges: Mapping[Key, Range], score: Score, gate_db: float = GATE_DB
) -> None:
    """Make INT8, in `plan`, the inputs of as many layers as the gate allows; the worst fall back first."""
    patterns = {g: patterns_of(model) for g, model in models.items()}

    def made(chosen: Iterable[Key]) -> dict[str, onnx.ModelProto]:
        of = {g: {n: ranges[g, n] for h, n in chosen if h == g} for g in models}
        return {g: pack_graph(m, plan.of(g), patterns[g], of[g]) for g, m in models.items()}

    for key in tqdm(ranges, unit="layer", desc="INT8 activations, each alone"):
        plan.activations_db[key] = score({key[0]: with_activations(models[key[0]], {key[1]: ranges[key]})})
    left = max(noise(gate_db) - noise(plan.snr_db), 0.0)
    chosen: list[Key] = []
    for key in sorted(ranges, key=lambda k: -plan.activations_db[k]):
        left -= noise(plan.activations_db[key])
        if left < 0:
            break
        chosen.append(key)
    while chosen and (after := score(made(chosen))) < gate_db:
        chosen.pop()
    if chosen:
        plan.snr_db = after
    plan.activations = {key: ranges[key] for key in chosen}


def pack_graph(
    model: onnx.ModelProto,
    stored: Mapping[str, str],
    patterns: Mapping[str, Pattern],
    ranges: Mapping[str, Range] | None = None,
) -> onnx.ModelProto:
    """A graph in compact form, with INT8 inputs for the layers in `ranges`."""
    return compact(with_activations(model, ranges) if ranges else model, stored, patterns)


def with_activations(model: onnx.ModelProto, ranges: Mapping[str, Range]) -> onnx.ModelProto:
    """A model whose layers in `ranges` read their input through QuantizeLinear and DequantizeLinear (uint8)."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    nodes, wanted = [], {x.nodes[0]: x for n, x in find_layers(model).items() if n in ranges}
    for node in made.graph.node:
        layer = wanted.get(node.output[0]) if node.output else None
        if layer:
            scale, zero = step_of(*ranges[layer.name])
            read, own = layer.inputs[0], f"{layer.name}:input"
            made.graph.initializer.append(numpy_helper.from_array(scale, f"{own}:scale"))
            made.graph.initializer.append(numpy_helper.from_array(zero, f"{own}:zero"))
            steps = [f"{own}:scale", f"{own}:zero"]
            nodes.append(helper.make_node("QuantizeLinear", [read, *steps], [f"{own}:q"], f"{own}:q"))
            nodes.append(helper.make_node("DequantizeLinear", [f"{own}:q", *steps], [own], own))
            node.input[list(node.input).index(read)] = own
        nodes.append(node)
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del made.graph.node[:]
    made.graph.node.extend(copies)
    return made


def step_of(low: float, high: float) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Scale and zero point of uint8 for values from `low` to `high`; zero is a value of its own."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = max((high - low) / 255, 1e-8)
    return np.array(scale, np.float32), np.array(round(-low / scale), np.uint8)


def observed(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, str]]:
    """A model that also gives what its MatMul layers read, and the value's name by layer."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    reads = {n: x.inputs[0] for n, x in find_layers(model).items() if x.operator == "MatMul"}
    given = {v.name for v in (*model.graph.output, *model.graph.input)}
    made.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        for name in sorted({*reads.values()} - given)
    )
    return made, {n: value for n, value in reads.items() if value not in {v.name for v in model.graph.input}}


class Calibration:
    """Histograms of layers' inputs, and from them the ranges of least KL divergence (by neural-compressor)."""

    def __init__(self) -> None:
        from neural_compressor.adaptor.ox_utils.calibrator import HistogramCollector, KLCalibrator

        self._new, self._kl = HistogramCollector, KLCalibrator()
        self._collectors: dict[Key, HistogramCollector] = {}

    def add(self, key: Key, values: NDArray[np.float32]) -> None:
        """Values of a layer's input."""
        if np.abs(values).max() > 0:
            self._collectors.setdefault(key, self._new(BINS)).collect_data(values)

    def ranges(self) -> dict[Key, Range]:
        """Low and high of each layer's input; what lies outside is clipped."""
        found = {}
        for key, collector in self._collectors.items():
            low, high = self._kl.get_kl_threshold(collector.histogram, LEVELS)
            found[key] = (float(low), float(high))
        return found
