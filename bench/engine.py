"""What sparsity and INT8 are worth: whole chunks of pitch, acoustic and vocoder, every form in one run.

    python bench/engine.py [--weights export/weights/default.pt] [--out results/engine]

Dense float32, sparse float32 and sparse INT8 (expanded at load, and kept) in the numpy engine; dense and sparse in
onnxruntime on the same graphs; blocks of 3, 12 and 75 frames; one thread. Forms take turns within one process and the
best time of each counts, so ratios mean something on a busy machine. Beside each stand the bytes that a block moves
and its floating-point operations, and the rates that follow. Needs the export extra; prunes by magnitude what is not
2:4 yet: speed does not depend on the values.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from dataclasses import asdict, dataclass  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from stonechat.engine import Bound, Program, load_graph  # noqa: E402
from stonechat.engine.ort import OrtProgram  # noqa: E402
from stonechat.export.compact import compact, find_layers, patterns_of  # noqa: E402
from stonechat.export.convert import prune_model  # noqa: E402
from stonechat.export.onnx_graphs import export_graphs  # noqa: E402
from stonechat.export.pack import load_student  # noqa: E402

GRAPHS = ("pitch", "acoustic", "vocoder")
PRUNED = ("acoustic", "vocoder")
FRAMES = (3, 12, 75)
FORMS = {  # name: (stored, weights in the pool, engine)
    "dense float32": ("dense", "float32", "numpy"),
    "sparse float32": ("float32", "float32", "numpy"),
    "sparse INT8, expanded": ("int8", "float32", "numpy"),
    "sparse INT8, kept": ("int8", "int8", "numpy"),
    "onnxruntime, dense": ("dense", "float32", "onnxruntime"),
    "onnxruntime, sparse": ("float32", "float32", "onnxruntime"),
}


@dataclass(frozen=True)
class Row:
    """One form at one block size."""

    form: str
    frames: int
    us: float
    """Best time of the three graphs together."""
    graphs_us: dict[str, float]
    speed: float
    """Against dense float32 in the numpy engine."""
    megabytes: float
    """Read and written by the numpy engine's steps for one block (onnxruntime: the same form's)."""
    megaflops: float

    def __str__(self) -> str:
        parts = " ".join(f"{self.graphs_us[g]:8.0f}" for g in GRAPHS)
        roof = f"{self.megabytes:7.2f} MB {self.megaflops:7.1f} MFLOP"
        rates = f"{self.megabytes / self.us * 1e3:6.1f} GB/s {self.megaflops / self.us * 1e3:6.1f} GFLOP/s"
        return f"{self.form:24}{self.frames:4}{self.us:9.0f} {parts}{self.speed:8.2f}x  {roof} {rates}"


def write_forms(weights: Path, folder: Path) -> None:
    """Every stored form of the three graphs, a folder each."""
    export_graphs(load_student(weights)[0], folder / "dense")
    for name in GRAPHS:
        model = onnx.load(folder / "dense" / f"{name}.onnx")
        model = prune_model(model) if name in PRUNED and not patterns_of(model) else model
        for stored in ("float32", "int8"):
            (folder / stored).mkdir(exist_ok=True)
            made = compact(model, dict.fromkeys(find_layers(model), stored), patterns_of(model))
            onnx.save(made, folder / stored / f"{name}.onnx")


def bind(path: Path, weights: str, engine: str, frames: int) -> Bound:
    """One graph ready to run, its inputs and state filled with noise."""
    longest = {"T": max(FRAMES)}
    program = (
        OrtProgram(path, longest) if engine == "onnxruntime" else Program(load_graph(path), longest, weights)
    )
    program.place(np.zeros(program.weight_bytes, np.uint8), np.zeros(program.arena_bytes, np.uint8))
    bound = program.bind({"T": frames}, np.zeros(program.state_bytes, np.uint8))
    random = np.random.default_rng(0)
    for view in bound.inputs.values():
        view[...] = random.standard_normal(view.shape)
    return bound


def cost(bound: Bound) -> tuple[float, float]:
    """Bytes moved and floating-point operations of matrix products, by the steps of a numpy program."""
    moved = operations = 0.0
    for kernel, args in bound.steps:
        arrays = [a for a in (*args, getattr(kernel, "__self__", None)) if isinstance(a, np.ndarray)]
        moved += sum(a.nbytes for a in arrays)
        if kernel is np.matmul:
            operations += 2.0 * args[2].size * args[0].shape[-1]
    return moved, operations


def best_us(runs: list[Callable[[], None]], rounds: int) -> list[float]:
    """Best µs a call of each, in turns."""
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            run()  # once unmeasured: the others have emptied the caches
            start = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - start)
    return [seconds * 1e6 for seconds in best]


def measure(folder: Path, frames: int, rounds: int) -> list[Row]:
    """Every form at one block size."""
    bounds = {
        form: [bind(folder / stored / f"{g}.onnx", weights, engine, frames) for g in GRAPHS]
        for form, (stored, weights, engine) in FORMS.items()
    }
    runs = [bound.run for row in bounds.values() for bound in row]
    times = np.reshape(best_us(runs, rounds), (len(FORMS), len(GRAPHS)))
    costs = {
        FORMS[f][0]: np.sum([cost(b) for b in row], 0)
        for f, row in bounds.items()
        if FORMS[f][1:] == ("float32", "numpy")
    }
    rows = []
    for (form, (stored, _, engine)), graphs in zip(FORMS.items(), times.tolist(), strict=True):
        own = np.sum([cost(b) for b in bounds[form]], 0) if engine == "numpy" else costs[stored]
        moved, operations = (own / 1e6).tolist()
        speed = float(times[0].sum() / sum(graphs))
        rows.append(
            Row(form, frames, sum(graphs), dict(zip(GRAPHS, graphs, strict=True)), speed, moved, operations)
        )
    return rows


def chart(rows: list[Row], picture: Path) -> None:
    """Speed against dense float32, a group of bars a block size."""
    from matplotlib.figure import Figure

    figure = Figure((9, 4), layout="constrained")
    axes = figure.subplots()
    for i, form in enumerate(FORMS):
        speeds = [r.speed for r in rows if r.form == form]
        axes.bar(np.arange(len(FRAMES)) + (i - 2.5) * 0.14, speeds, 0.14, label=form)
    axes.axhline(1, color="k", lw=0.8)
    axes.set_xticks(range(len(FRAMES)), [f"{f} frames" for f in FRAMES])
    axes.set(ylabel="speed, dense float32 numpy = 1", title="pitch + acoustic + vocoder, one thread")
    axes.legend(fontsize=8)
    figure.savefig(picture, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--weights", type=Path, default=Path("export/weights/default.pt"))
    parser.add_argument("--out", type=Path, help="write OUT.json and OUT.png too")
    parser.add_argument("--rounds", type=int, default=200, help="for 3 frames; fewer for longer blocks")
    args = parser.parse_args()
    print(f"numpy {np.__version__}, onnxruntime {onnxruntime.__version__}, one thread")
    print(f"{'form':24}{'T':>4}{'µs':>9} " + " ".join(f"{g:>8}" for g in GRAPHS) + f"{'speed':>9}")
    with tempfile.TemporaryDirectory() as folder:
        write_forms(args.weights, Path(folder))
        rows = [row for f in FRAMES for row in measure(Path(folder), f, max(30, args.rounds * 3 // f))]
    print("\n".join(map(str, rows)))
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.with_suffix(".json").write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf8")
        chart(rows, args.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
