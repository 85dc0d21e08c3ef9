"""The written report of a quantisation: report.json for machines, report.html with pictures for people."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from .compact import find_layers, patterns_of, values_of
from .comparison import Comparison
from .prune import PARTS
from .quantise import Plan

Models = Mapping[str, onnx.ModelProto]
COLOURS = {"int8": "#2a7", "float16": "#d82", "float32": "#999"}


def write_report(
    folder: Path,
    models: Models,
    packed: Models,
    plan: Plan,
    found: Comparison,
    gate_db: float,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write report.json and report.html into `folder`; returns the former's content, `more` included."""
    facts = {**(more or {}), **summary(models, packed, plan, found, gate_db)}
    (folder / "report.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False), "utf8")
    (folder / "report.html").write_text(page(facts), "utf8")
    return facts


def summary(models: Models, packed: Models, plan: Plan, found: Comparison, gate_db: float) -> dict[str, Any]:
    """Everything measured, of JSON's types."""
    rows: list[dict[str, Any]] = []
    for graph, model in models.items():
        sparse = patterns_of(model)
        for name, layer in find_layers(model).items():
            key = (graph, name)
            row: dict[str, Any] = {
                "graph": graph,
                "layer": layer.title,
                "shape": list(layer.shape),
                "stored": plan.stored[key],
            }
            row |= {"outputs_of_a_pattern": sparse[name].outputs if name in sparse else None}
            row |= {"int8_alone_db": round(plan.noise_db[key], 2), "int8_input": key in plan.activations}
            if key in plan.activations_db:
                row["int8_input_alone_db"] = round(plan.activations_db[key], 2)
            rows.append(row)
    worst = min((r for r in rows if r["stored"] == "int8"), key=lambda r: r["int8_alone_db"], default=None)
    return {
        "gate_db": gate_db,
        "passed": found.mean_db >= gate_db,
        "sound_db": {"mean": round(found.mean_db, 2), "least": round(min(found.sound_db), 2)},
        "clauses": len(found.sound_db),
        "stages_db": {name: round(value, 2) for name, value in found.stages_db.items()},
        "duration_percent": round(found.duration_percent, 3),
        "f0_cents": round(found.f0_cents, 3),
        "worst_int8_layer": worst
        and f"{worst['graph']}: {worst['layer']} ({worst['int8_alone_db']} dB alone)",
        "sparse_share": round(sparse_share(models), 4),
        "bytes": {
            name: {
                "float32": len(models[name].SerializeToString()),
                "packed": len(packed[name].SerializeToString()),
            }
            for name in models
        },
        "sentences_db": [round(value, 2) for value in found.sound_db],
        "layers": rows,
    }


def sparse_share(models: Models) -> float:
    """Share of all weights (of the acoustic decoder and the vocoder, where there are such) that are 2:4.

    The graphs in float32, not yet packed.
    """
    pruned = total = 0
    for name in [p for p in PARTS if p in models] or models:
        layers = find_layers(models[name])
        total += sum(int(np.prod(t.dims)) for t in models[name].graph.initializer if len(t.dims) > 1)
        found = patterns_of(models[name])
        pruned += sum(values_of(models[name], layers[n]).size for n in found)
    return pruned / total


def picture(facts: Mapping[str, Any]) -> bytes:
    """Three panels as a PNG: each layer alone, bytes before and after, SNR of the sentences."""
    from matplotlib.figure import Figure

    rows = facts["layers"]
    figure = Figure((13, max(4.0, 0.19 * len(rows))), layout="constrained")
    bars, sizes, spread = figure.subplots(1, 3, width_ratios=(3, 1, 1.4))
    names = [f"{r['graph']} {r['layer'].removeprefix('module.')}" for r in rows]
    bars.barh(names, [min(r["int8_alone_db"], 90) for r in rows], color=[COLOURS[r["stored"]] for r in rows])
    bars.axvline(facts["gate_db"], color="k", lw=0.8)
    bars.set(title="SNR with this layer alone in INT8 (green) or kept in float16 (orange)", xlabel="dB")
    bars.tick_params("y", labelsize=6)
    bars.invert_yaxis()
    graphs = list(facts["bytes"])
    for offset, form in ((-0.2, "float32"), (0.2, "packed")):
        sizes.bar(
            np.arange(len(graphs)) + offset, [facts["bytes"][g][form] / 1e6 for g in graphs], 0.4, label=form
        )
    sizes.set_xticks(range(len(graphs)), graphs, rotation=60)
    sizes.set(title="size", ylabel="MB")
    sizes.legend()
    spread.hist(facts["sentences_db"], 24)
    spread.axvline(facts["gate_db"], color="k", lw=0.8)
    spread.set(title="SNR of the sound", xlabel="dB", ylabel="clauses")
    file = io.BytesIO()
    figure.savefig(file, dpi=90)
    return file.getvalue()


def page(facts: Mapping[str, Any]) -> str:
    """One page: the figures, the picture inside it, a row a layer."""
    shown = {k: v for k, v in facts.items() if k not in ("layers", "sentences_db")}
    lines = "".join(f"<tr><th>{html.escape(k)}<td>{html.escape(json.dumps(v))}" for k, v in shown.items())
    heads = "".join(f"<th>{html.escape(name)}" for name in facts["layers"][0])
    layers = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(v))}" for v in row.values()) for row in facts["layers"]
    )
    image = base64.b64encode(picture(facts)).decode()
    return (
        "<!doctype html><meta charset=utf-8><title>Packed voice</title>"
        "<style>body{font:14px sans-serif}td,th{text-align:left;padding:1px 10px}img{max-width:100%}</style>"
        f"<h1>Packed voice: {'passed' if facts['passed'] else 'below the gate'}</h1><table>{lines}</table>"
        f"<img alt='layers, sizes, sentences' src='data:image/png;base64,{image}'>"
        f"<table><tr>{heads}{layers}</table>\n"
    )
