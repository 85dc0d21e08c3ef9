"""What an operator is to the engine: a naive reference, and a function that turns a node into steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
Attributes = dict[str, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """One operation of a graph; empty input names are absent optional inputs."""

    operator: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


class Binding(Protocol):
    """What a bind function may ask for: planned memory, and a place in the list of steps."""

    def output(self, shape: Shape, dtype: DTypeLike, reuse: Sequence[Array] = ()) -> Array:
        """Memory for the node's only output; one of `reuse` itself where that input dies here and fits."""

    def rows(self, shape: Shape, dtype: DTypeLike, reuse: Sequence[Array] = ()) -> Array:
        """The same, always C-contiguous."""

    def scratch(self, label: str, shape: Shape, dtype: DTypeLike = np.float32) -> Array:
        """Memory that lives during this node only."""

    def reshaped(self, x: Array, shape: Shape) -> Array:
        """The node's output: x in another shape, a view where numpy can, else one copy a run."""

    def call(self, kernel: Callable[..., object], *args: Any) -> None:
        """Appends a step."""

    def copy(self, target: Array, source: Array) -> None:
        """Appends the cheapest call that writes source into target, converting its type."""

    def joined(self, inputs: tuple[Array, ...], axis: int) -> tuple[Array, frozenset[int]]:
        """Memory for a Concat's output, and which inputs (positions) are in place there already."""

    def repeated(self, row: Array, count: int) -> Array:
        """A constant row (N,) as (count, N): full size where there are few rows, shared by all bindings."""

    def known(self, position: int) -> bool:
        """Whether the values of the node's input are known now: a constant, or made of sizes."""


Result = Array | tuple[Array, ...]
Reference = Callable[..., Result]
"""reference(attributes, *inputs): plain numpy, allocates, absent inputs are None."""
Bind = Callable[..., Result]
"""bind(binding, node, *inputs): asks for memory, appends steps, returns the outputs (views welcome)."""


@dataclass(frozen=True)
class Operator:
    """How one ONNX operator is computed."""

    reference: Reference
    bind: Bind | None = None
    """None: only at bind time, from constants and sizes (Shape, Range)."""
    shape_inputs: tuple[int, ...] = ()
    """Inputs whose values must be known at bind time."""
    view: bool = False
    """The output may share memory with the first input."""

    @property
    def arity(self) -> tuple[int, int]:
        """Fewest and most inputs of a node, read off the reference's signature."""
        return _arity(self.reference)


@cache
def _arity(reference: Reference) -> tuple[int, int]:
    parameters = list(signature(reference).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 1, 2**31
    return sum(p.default is p.empty for p in parameters), len(parameters)
