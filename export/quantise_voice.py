"""From a float32 voice pack to the packed one: plan, compact graphs, proof. Every step leaves a file and is not redone.

In the work folder: calibration.json (ranges of activations), plan.json (what is INT8), report.json and report.html.
Each names what it was made of; a step whose cause has changed is done again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from stonechat.errors import ModelError
from stonechat.facts import GRAPHS, VoiceFacts, read_facts
from tqdm import tqdm

from .compact import patterns_of
from .comparison import Comparison, Listener, load_models, spread
from .listening import Clause, Runner, Speaker, clauses, read_texts
from .quantise import (
    GATE_DB,
    Calibration,
    Key,
    Plan,
    Range,
    observed,
    pack_graph,
    quantise,
    quantise_activations,
)
from .report import write_report

Models = Mapping[str, onnx.ModelProto]


@dataclass(frozen=True)
class Options:
    """What a caller may choose."""

    gate_db: float = GATE_DB
    tuned: int = 8
    """Clauses that each layer is tried on."""
    verified: int = 200
    """Clauses that the gate is measured on; none of the tuned ones among them where there are enough."""
    calibrated: int = 2048
    """Sentences that activations are calibrated on."""
    activations: bool = False
    """Try to make activations INT8 too."""


def quantise_voice(
    pack: Path, texts: Path, out: Path, work: Path, options: Options | None = None
) -> Comparison:
    """Write the packed form of `pack` as `out`. ModelError where the gate is missed; nothing is written then."""
    options = options or Options()
    facts, models = read_facts(pack), load_models(pack)
    work.mkdir(parents=True, exist_ok=True)
    cause = fingerprint(models, options)
    said = list(clauses(read_texts(texts)[: options.calibrated], facts))
    tuned = spread(said, options.tuned)
    plan = _kept(work / "plan.json", cause, lambda: _plan(facts, models, tuned, said, options, work, cause))
    packed = pack_models(models, read_plan(plan))
    rest = [clause for clause in said if not any(clause is other for other in tuned)] or tuned
    found = Listener(facts, models, spread(rest, options.verified)).compare(packed)
    write_report(work, models, packed, read_plan(plan), found, options.gate_db)
    if found.mean_db < options.gate_db:
        raise ModelError(
            f"the packed voice reaches {found.mean_db:.1f} dB, the gate is {options.gate_db:g} dB: tune on more"
            f" clauses (--tuned), or train with weights rounded; see {work / 'report.html'}"
        )
    write_packed(pack, out, packed, found)
    return found


def pack_models(models: Models, plan: Plan) -> dict[str, onnx.ModelProto]:
    """The graphs in compact form, as planned."""
    ranges: dict[str, dict[str, Range]] = {g: {} for g in models}
    for (graph, name), found in plan.activations.items():
        ranges[graph][name] = found
    return {g: pack_graph(m, plan.of(g), patterns_of(m), ranges[g]) for g, m in models.items()}


def write_packed(pack: Path, out: Path, packed: Models, found: Comparison) -> None:
    """The packed graphs beside the voice's own description."""
    out.mkdir(parents=True, exist_ok=True)
    for name, model in packed.items():
        onnx.save(model, out / f"{name}.onnx")
    for file in pack.iterdir():
        if file.suffix in (".md", ".txt"):
            shutil.copyfile(file, out / file.name)
    facts = json.loads((pack / "voice.json").read_text("utf8"))
    facts["card"] = {**facts.get("card", {}), "weights": "2:4, INT8", "snr_db": round(found.mean_db, 1)}
    facts["name"] = out.name
    (out / "voice.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1), "utf8")


def _plan(
    facts: VoiceFacts,
    models: Models,
    tuned: list[Clause],
    said: list[Clause],
    options: Options,
    work: Path,
    cause: str,
) -> dict[str, Any]:
    score = Listener(facts, models, tuned).score
    plan = quantise(models, score, options.gate_db)
    if options.activations:
        kept = _kept(
            work / "calibration.json", cause, lambda: {"ranges": _rows(calibrate(facts, models, said))}
        )
        ranges = {(g, n): (low, high) for g, n, (low, high) in kept["ranges"]}
        quantise_activations(models, plan, ranges, score, options.gate_db)
    return {
        "snr_db": plan.snr_db,
        "stored": _rows(plan.stored),
        "noise_db": _rows(plan.noise_db),
        "activations": _rows(plan.activations),
        "activations_db": _rows(plan.activations_db),
    }


def _rows(values: Mapping[Key, Any]) -> list[list[Any]]:
    return [[graph, name, value] for (graph, name), value in values.items()]


def read_plan(kept: Mapping[str, Any]) -> Plan:
    """plan.json as a Plan."""
    tables = {
        n: {(g, w): v for g, w, v in kept[n]} for n in ("stored", "noise_db", "activations", "activations_db")
    }
    return Plan(snr_db=kept["snr_db"], **tables)


def calibrate(facts: VoiceFacts, models: Models, said: list[Clause]) -> dict[Key, Range]:
    """Ranges of what each MatMul layer reads, over clauses spoken by the float32 graphs."""
    seen = {g: observed(m) for g, m in models.items()}
    runners = {g: Runner(model) for g, (model, _) in seen.items()}
    speaker, calibration = Speaker(facts, runners), Calibration()
    for clause in tqdm(said, unit="clause", desc="calibrating"):
        frames = speaker.lay(clause)
        speaker.spectrum(frames, speaker.features(frames, speaker.encode(clause)[0]))
        for graph, (_, reads) in seen.items():
            for name, value in reads.items():
                calibration.add((graph, name), runners[graph].last[value])
    return calibration.ranges()


def fingerprint(models: Models, options: Options) -> str:
    """Changes with the weights and with what is asked."""
    digest = blake2b(repr(sorted(asdict(options).items())).encode(), digest_size=8)
    for name in GRAPHS:
        digest.update(models[name].SerializeToString())
    return digest.hexdigest()


def _kept(file: Path, cause: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a step left, where its cause is the same; else the step is done and kept."""
    if file.is_file():
        kept: dict[str, Any] = json.loads(file.read_text("utf8"))
        if kept.get("made_of") == cause:
            return kept
    made = {"made_of": cause, **make()}
    part = file.with_suffix(".part")
    part.write_text(json.dumps(made, indent=1, default=_plain), "utf8")
    part.replace(file)
    return made


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)
