"""Sizes of a graph's inputs, outputs and states, and how arrays are cut from memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError
from .graph import Graph, ValueInfo
from .kernels.operator import Array, Shape
from .plan import Slot, aligned

STATE_IN, STATE_OUT = "_in", "_out"


def check_dims(graph: Graph, max_dims: Mapping[str, int]) -> dict[str, int]:
    names = {size for value in graph.inputs for size in value.shape if isinstance(size, str)}
    if names != set(max_dims) or any(size < 1 for size in max_dims.values()):
        raise ModelError(f"the graph has the sizes {sorted(names)}; max_dims gives {dict(max_dims)}")
    return dict(max_dims)


def state_pairs(
    inputs: Sequence[ValueInfo], outputs: Sequence[ValueInfo]
) -> dict[str, tuple[ValueInfo, ValueInfo]]:
    """Each *_state with its input and its output."""
    after = {value.name: value for value in outputs}
    pairs = {}
    for value in inputs:
        name = value.name.removesuffix(STATE_IN)
        if name != value.name and name.endswith("_state"):
            if name + STATE_OUT not in after:
                raise ModelError(f"state input '{value.name}' has no output '{name}{STATE_OUT}'")
            pairs[name] = (value, after[name + STATE_OUT])
    return pairs


def sizes(value: ValueInfo, dims: Mapping[str, int]) -> Shape:
    return tuple(dims[size] if isinstance(size, str) else size for size in value.shape)


def nbytes(shape: Shape, dtype: np.dtype[Any]) -> int:
    return int(np.prod(shape)) * dtype.itemsize


def lay_out(wanted: Mapping[str, int]) -> tuple[dict[str, Slot], int]:
    """Slots one after another, 64-byte aligned, and the bytes they take together."""
    slots, offset = {}, 0
    for name, size in wanted.items():
        slots[name] = Slot(offset, size)
        offset += aligned(size)
    return slots, offset


def view(memory: Array, slot: Slot, shape: Shape, dtype: np.dtype[Any]) -> Array:
    return np.ndarray(shape, dtype, memory, slot.offset)


def check_memory(what: str, memory: Array, needed: int) -> None:
    fits = (
        memory.dtype == np.uint8 and memory.ndim == 1 and memory.flags.c_contiguous and memory.flags.writeable
    )
    if not fits or memory.size < needed:
        raise ModelError(
            f"{what} must be a writable uint8 array of >= {needed} bytes, got {memory.dtype} {memory.shape}"
        )
