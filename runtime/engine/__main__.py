"""What the engine makes of a graph: `python -m stonechat.engine FILE.onnx [--max T=75] [--dims T=3]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from ..errors import ModelError
from .binding import Step
from .graph import Graph, load_graph
from .program import Program

DEFAULT_SIZE = 75
"""Frames assumed for a size that the command line does not give."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m stonechat.engine", description="Show a graph's plan and steps."
    )
    parser.add_argument("file")
    parser.add_argument(
        "--max", nargs="*", default=[], metavar="NAME=N", help="the longest sizes to plan for"
    )
    parser.add_argument(
        "--dims", nargs="*", default=[], metavar="NAME=N", help="the sizes to show; default: the longest"
    )
    options = parser.parse_args(arguments)
    try:
        graph = load_graph(options.file)
        longest = {**dict.fromkeys(named_sizes(graph), DEFAULT_SIZE), **parse_sizes(options.max)}
        print("\n".join(describe(graph, longest, {**longest, **parse_sizes(options.dims)})))
    except ModelError as error:
        print(f"{options.file}: {error}")
        return 1
    return 0


def named_sizes(graph: Graph) -> list[str]:
    return [size for value in graph.inputs for size in value.shape if isinstance(size, str)]


def parse_sizes(texts: Sequence[str]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not number.isdigit():
            raise ModelError(f"'{text}' is no size; write NAME=NUMBER, such as T=75")
        sizes[name] = int(number)
    return sizes


def describe(graph: Graph, max_dims: dict[str, int], dims: dict[str, int]) -> list[str]:
    """The lines to print: facts, then inputs and outputs, then one line a step."""
    program = Program(graph, max_dims)
    program.place(np.empty(program.weight_bytes, np.uint8), np.empty(program.arena_bytes, np.uint8))
    bound = program.bind(dims, np.zeros(program.state_bytes, np.uint8))
    lines = [
        f"opset {graph.opset}, {len(graph.nodes)} nodes, {len(bound.steps)} steps at {dims} of {max_dims}",
        f"bytes: weights {program.weight_bytes}, arena {program.arena_bytes}, state {program.state_bytes}",
    ]
    lines += [f"{key}: {value}" for key, value in graph.metadata.items()]
    for title, views in (("input", bound.inputs), ("output", bound.outputs), ("state", bound.state)):
        lines += [f"{title:7}{name}  {x.dtype}{list(x.shape)}" for name, x in views.items()]
    lines += [f"{index:4}  {step_text(step)}" for index, step in enumerate(bound.steps)]
    return lines


def step_text(step: Step) -> str:
    kernel, args = step
    name = kernel.__name__
    if name == "reduce":
        name = f"{kernel.__self__.__name__}.reduce"  # type: ignore[attr-defined]
    elif name == "__setitem__":
        name, args = "copy", (args[0], args[2])
    return f"{name:16}" + " ".join(
        str(list(arg.shape)) if isinstance(arg, np.ndarray) else str(arg) for arg in args
    )


if __name__ == "__main__":
    raise SystemExit(main())
