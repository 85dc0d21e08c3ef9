"""The pipeline: from a corpus to a packed voice, a command a step, each resumed or left out where it is done."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Command = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Step:
    """One command, and whether it has been done."""

    argv: list[str]
    done: Callable[[], bool]


def pipeline(args: argparse.Namespace, command: Command) -> int:
    """Run every step that is not done yet; stops at the first that fails. Returns its exit status."""
    for step in steps(args):
        if step.done():
            print(f"done before: {step.argv[0]}")
            continue
        print(f"stonechat-export {' '.join(step.argv)}", flush=True)
        if status := command(step.argv):
            return status
    return 0


def steps(args: argparse.Namespace) -> Iterator[Step]:
    """The steps, made as they are reached: each looks at what the one before has left."""
    folder, corpus = args.folder, str(args.corpus)
    dense = args.start or folder / "dense" / "checkpoint.pt"
    sparse, plain = folder / "sparse", folder / "float32"
    device = ["--device", args.device]
    if not args.start:
        argv = ["train", "--corpus", corpus, "--run", str(dense.parent), "--steps", str(args.steps), *device]
        yield Step(argv, lambda: reached(dense) >= args.steps)
    last = reached(dense) + args.sparse_steps
    argv = ["prune", "--corpus", corpus, "--run", str(sparse), "--start", str(dense)]
    argv += ["--steps", str(args.sparse_steps), *device]
    yield Step(argv, lambda: reached(sparse / "checkpoint.pt") >= last)
    argv = ["pack", "--run", str(sparse), "--out", str(plain)]
    argv += ["--card", str(args.card)] if args.card else []
    yield Step(argv, lambda: newer(plain / "voice.json", sparse / "checkpoint.pt"))
    argv = [
        "quantise",
        str(plain),
        "--texts",
        corpus,
        "--work",
        str(folder / "quantise"),
        "--out",
        str(args.out),
    ]
    yield Step(argv, lambda: newer(args.out / "voice.json", plain / "voice.json"))
    yield Step(["verify", str(args.out)], lambda: False)


def reached(checkpoint: Path) -> int:
    """Steps of a checkpoint or weights file; 0 where there is none."""
    if not checkpoint.is_file():
        return 0
    from .pack import load_weights

    return load_weights(checkpoint)[2]


def newer(made: Path, cause: Path) -> bool:
    """Whether `made` is there, whole, and not older than its cause."""
    try:
        json.loads(made.read_text("utf8"))
    except (OSError, ValueError):
        return False
    return made.stat().st_mtime >= cause.stat().st_mtime
