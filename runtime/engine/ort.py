"""The second engine: onnxruntime on the same files, bound by IO binding to the same memory. Optional."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import OptionError
from .dims import check_dims, lay_out, nbytes, sizes, state_pairs, view
from .graph import ValueInfo, load_graph
from .kernels.operator import Array
from .plan import Slot
from .program import Bound, Program


def _onnxruntime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise OptionError(
            "engine onnxruntime is not installed: pip install 'stonechat[onnxruntime]'"
        ) from error
    return onnxruntime


class OrtProgram(Program):
    """The interface of `Program`, run by onnxruntime on one thread. Its weights lie in onnxruntime's own memory."""

    def __init__(self, path: Path, max_dims: Mapping[str, int]) -> None:
        ort = _onnxruntime()
        graph = load_graph(path)
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry(
            "session.disable_quant_qdq", "1"
        )  # expand INT8 weights at load, not each run
        self._session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs, self.outputs, self.metadata = graph.inputs, graph.outputs, graph.metadata
        self.max_dims = check_dims(graph, max_dims)
        self._states = state_pairs(self.inputs, self.outputs)
        self.state_names = tuple(self._states)
        self._state_slots, self.state_bytes = lay_out(
            {n: nbytes(sizes(before, self.max_dims), before.dtype) for n, (before, _) in self._states.items()}
        )
        values = {v.name: nbytes(sizes(v, self.max_dims), v.dtype) for v in (*self.inputs, *self.outputs)}
        self._slots, self.arena_bytes = lay_out(values)
        self.weight_bytes = 0
        self._arena: Array | None = None

    def place(self, weights: Array, arena: Array) -> None:
        """Take the memory of inputs and outputs; `weights` stays empty."""
        del weights
        self._arena = arena

    def bind(self, dims: Mapping[str, int] | None = None, state: Array | None = None) -> Bound:
        """Views of the arena and of a session's `state`, and a run that reads and writes them in place."""
        if self._arena is None:
            raise OptionError("bind before place: give the program its memory first")
        arena, dims = self._arena, dict(dims or {})
        state = np.empty(0, np.uint8) if state is None else state
        kept = {n: _view(state, s, self._states[n][0], dims) for n, s in self._state_slots.items()}
        before = {b.name: n for n, (b, _) in self._states.items()}
        after = {a.name: n for n, (_, a) in self._states.items()}
        binding = self._session.io_binding()
        views: dict[str, Array] = {}
        for value in (*self.inputs, *self.outputs):
            name = before.get(value.name)
            array = kept[name] if name else _view(arena, self._slots[value.name], value, dims)
            views[value.name] = array
            bind = binding.bind_input if value in self.inputs else binding.bind_output
            bind(value.name, "cpu", 0, value.dtype.type, array.shape, array.ctypes.data)
        steps: list[Any] = [(self._session.run_with_iobinding, (binding,))]
        steps += [(np.copyto, (kept[n], views[a])) for a, n in after.items()]
        plain = {n: v for n, v in views.items() if n not in before and n not in after}
        names = {v.name for v in self.inputs}
        return Bound(
            {n: v for n, v in plain.items() if n in names},
            {n: v for n, v in plain.items() if n not in names},
            kept,
            steps,
        )


def _view(memory: Array, slot: Slot, value: ValueInfo, dims: Mapping[str, int]) -> Array:
    return view(memory, slot, sizes(value, dims), value.dtype)
