"""A loaded voice: its facts, its memory and its pipeline."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from stonechat.platforms import current

from .engine import Program, load_graph
from .errors import OptionError
from .facts import GRAPHS, VoiceFacts, find_voice, read_facts
from .pipeline import Models, Pipeline
from .pool import MemoryPool
from .session import Chunk, Session, Wishes
from .slot import LONGEST_BLOCK, MAX_PHONEMES, RowSizes, Slot
from .text import Frontend

Wave = NDArray[np.float32]
ENGINES = ("numpy", "onnxruntime")
SESSIONS = 4


def load(
    name: str | Path = "default",
    *,
    engine: str = "numpy",
    pool_mib: float = 32,
    lock: bool = True,
    sessions: int = SESSIONS,
) -> Voice:
    """Load a voice by name or folder, place it in a pool of `pool_mib` MiB, and warm it up.

    Errors: VoiceError (no such voice, a newer format), ModelError (a damaged graph), PoolError (a pool too small,
    with the map of what needs how much), OptionError.
    """
    if engine not in ENGINES:
        raise OptionError(f"engine is {engine!r}: use one of {', '.join(ENGINES)}")
    facts = read_facts(find_voice(name))
    current().limit_blas_threads(1)
    pool = MemoryPool(pool_mib, lock)
    programs = {
        graph: _place(pool, graph, _program(engine, facts.graph(graph), _longest(graph))) for graph in GRAPHS
    }
    models = Models(facts, Frontend.load(), MappingProxyType(programs))
    voice = Voice(models, pool, sessions)
    voice.warm_up()
    return voice


def _place(pool: MemoryPool, graph: str, program: Program) -> Program:
    """Give a program its memory at once, so that no two graphs' files are in memory together."""
    weights = pool.region(f"{graph} weights", program.weight_bytes)
    program.place(weights, pool.region(f"{graph} arena", program.arena_bytes))
    return program


def _program(engine: str, path: Path, longest: dict[str, int]) -> Program:
    if engine == "onnxruntime":
        from .engine.ort import OrtProgram

        return OrtProgram(path, longest)
    return Program(load_graph(path), longest)


def _longest(graph: str) -> dict[str, int]:
    return {"N": MAX_PHONEMES} if graph == "encoder" else {"T": LONGEST_BLOCK}


def _row_sizes(programs: MappingProxyType[str, Program]) -> RowSizes:
    """Widths of what passes between the graphs, from the graphs themselves."""

    def width(graph: str, name: str) -> int:
        info = {v.name: v for v in (*programs[graph].inputs, *programs[graph].outputs)}[name]
        return int(info.shape[-1])

    states = {name: program.state_bytes for name, program in programs.items() if program.state_bytes}
    return RowSizes(width("acoustic", "frames"), width("encoder", "h"), width("acoustic", "features"), states)


class Voice:
    """Speaks. Thread-safe: each call of `inference` takes a session of its own."""

    def __init__(self, models: Models, pool: MemoryPool, sessions: int) -> None:
        self.facts: VoiceFacts = models.facts
        self.frontend = models.frontend
        self.pool, self.pipeline = pool, Pipeline(models)
        sizes = _row_sizes(models.programs)
        self._free = [Slot(i, pool, models.facts, sizes, self.pipeline.bells) for i in range(sessions)]
        self._bound: set[int] = set()
        self._lock = threading.Lock()

    @overload
    def inference(self, text: str, *, stream: Literal[False] = False, **wishes: Any) -> tuple[Wave, int]: ...
    @overload
    def inference(self, text: str, *, stream: Literal[True], **wishes: Any) -> Iterator[Chunk]: ...
    def inference(
        self, text: str, *, stream: bool = False, **wishes: Any
    ) -> tuple[Wave, int] | Iterator[Chunk]:
        """Speak `text`: (samples, rate), or chunks as they are made with `stream=True`.

        Wishes: speed, volume, seed, voice, chunk_ms, inline (see `Wishes`). OptionError names a wrong one.
        """
        checked = _wishes(wishes)
        if stream:
            return self._stream(text, checked)
        with self.session() as session:
            chunks = [c.samples for c in session.stream(text, checked, LONGEST_BLOCK)]
        return np.concatenate(chunks or [np.zeros(0, np.float32)]), self.facts.rate_hz

    def _stream(self, text: str, wishes: Wishes) -> Iterator[Chunk]:
        with self.session() as session:
            yield from session.stream(text, wishes)

    def session(self) -> Session:
        """A session of its own, for several utterances and `cancel()`. OptionError when all are in use."""
        with self._lock:
            if not self._free:
                raise OptionError("every session is in use: close one, or load with more sessions=")
            slot = self._free.pop()
            if slot.index not in self._bound:
                self.pipeline.add(slot)
                self._bound.add(slot.index)
        return _Returning(self, slot)

    def give_back(self, slot: Slot) -> None:
        """Take a closed session's slot for the next."""
        with self._lock:
            self._free.append(slot)

    def warm_up(self) -> None:
        """Speak a silent sentence through every stage, so that nothing is touched first while speaking."""
        for text in ("你好。", "Hello."):
            for _ in self.inference(text, stream=True, volume=0.0):
                pass

    def close(self) -> None:
        """End the threads and give the memory back."""
        self.pipeline.close()
        self.pool.close()

    def __enter__(self) -> Voice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Returning(Session):
    """A session whose slot goes back to its voice."""

    def __init__(self, voice: Voice, slot: Slot) -> None:
        super().__init__(voice.pipeline, slot)
        self.voice = voice

    def close(self) -> None:
        if not self.closed:
            super().close()
            self.voice.give_back(self.slot)


def _wishes(options: dict[str, Any]) -> Wishes:
    known = Wishes.__dataclass_fields__
    for name in options:
        if name not in known:
            raise OptionError(f"no option {name!r}; there are: {', '.join(known)}, stream")
    return Wishes(**options)
