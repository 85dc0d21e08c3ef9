"""A loaded voice: its facts, its memory and its pipeline."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from stonechat.platforms import current

from .cache import compiled
from .engine import WEIGHTS, Program
from .errors import OptionError, VoiceError
from .facts import GRAPHS, VoiceFacts, find_voice, read_facts
from .pipeline import Models, Pipeline
from .pool import MemoryPool
from .session import Session
from .slot import LONGEST_BLOCK, MAX_PHONEMES, Bells, RowSizes, Slot
from .stages.prosody import POSITION, PROSODY
from .text import Frontend
from .utterance import Utterance
from .wishes import read_wishes

Wave = NDArray[np.float32]
ENGINES = ("numpy", "onnxruntime")
SESSIONS = 4
MAX_SESSIONS = 64
MAX_POOL_MIB = 4096


def load(
    name: str | Path = "default",
    *,
    engine: str = "numpy",
    weights: str = "float32",
    pool_mib: float = 32,
    lock: bool = True,
    sessions: int = SESSIONS,
    lexicon: str | Path | None = None,
    warm: bool = True,
    keep: bool | None = None,
    real_time: bool = False,
) -> Voice:
    """Load a voice by name or folder, place it in a pool of `pool_mib` MiB, and (`warm`) speak a silent sentence.

    `weights`: INT8 weights are expanded once, at load ("float32"), or stay INT8 in the pool and are expanded at each
    run ("int8"): a third of the memory for weights, at more work a chunk.
    Who speaks one sentence and ends is sooner heard with `warm=False`. `keep=True` leaves what was compiled for the
    next start; None uses what is left there, False does not (see `cache`). `real_time` puts the stages before all
    other work of the machine: for speech that is played as it is made, never for files.

    `lexicon` is a file of your own pronunciations, read again whenever it changes (see `text.userdict`).

    Errors: VoiceError (no such voice, a newer format), TextError (a lexicon that cannot be read), ModelError (a
    damaged graph), PoolError (a pool too small, with the map of what needs how much), OptionError.
    """
    if engine not in ENGINES:
        raise OptionError(f"engine is {engine!r}: use one of {', '.join(ENGINES)}")
    if weights not in WEIGHTS:
        raise OptionError(f"weights is {weights!r}: use one of {', '.join(WEIGHTS)}")
    if engine == "onnxruntime" and weights != "float32":
        raise OptionError(f"weights={weights!r} is for engine='numpy'; onnxruntime lays out its own")
    if type(sessions) is not int or not 1 <= sessions <= MAX_SESSIONS:
        raise OptionError(f"sessions is {sessions!r}: use a whole number from 1 to {MAX_SESSIONS}")
    if not isinstance(pool_mib, int | float) or not 0 < pool_mib <= MAX_POOL_MIB:
        raise OptionError(f"pool_mib is {pool_mib!r}: use a number of MiB up to {MAX_POOL_MIB}")
    facts = read_facts(find_voice(name))
    frontend = Frontend.load(lexicon=lexicon)
    current().limit_blas_threads(1)
    pool = MemoryPool(pool_mib, lock)
    programs = {
        graph: _place(pool, graph, _program(engine, facts.graph(graph), _longest(graph), keep, weights))
        for graph in GRAPHS
    }
    models = Models(facts, frontend, MappingProxyType(programs))
    voice = Voice(models, pool, sessions)
    voice.pipeline.real_time = real_time
    try:
        if warm:
            voice.warm_up()
    except BaseException:
        voice.close()
        raise
    return voice


def _place(pool: MemoryPool, graph: str, program: Program) -> Program:
    """Give a program its memory at once, so that no two graphs' files are in memory together."""
    weights = pool.region(f"{graph} weights", program.weight_bytes)
    program.place(weights, pool.region(f"{graph} arena", program.arena_bytes))
    return program


def _program(engine: str, path: Path, longest: dict[str, int], keep: bool | None, weights: str) -> Program:
    if engine == "onnxruntime":
        from .engine.ort import OrtProgram

        return OrtProgram(path, longest)
    return Program(compiled(path, longest, keep, weights))


def _longest(graph: str) -> dict[str, int]:
    return {"N": MAX_PHONEMES} if graph == "encoder" else {"T": LONGEST_BLOCK}


def _row_sizes(programs: Mapping[str, Program], facts: VoiceFacts) -> RowSizes:
    """Widths of what passes between the graphs. VoiceError where the graphs do not fit each other."""

    def width(graph: str, name: str) -> int:
        program = programs[graph]
        for value in (*program.inputs, *program.outputs):
            if value.name == name and isinstance(value.shape[-1], int):
                return value.shape[-1]
        raise VoiceError(
            f"{facts.graph(graph)} has no {name!r}: it is no {graph} graph; unpack the voice again"
        )

    hidden, feature, frame = width("encoder", "h"), width("acoustic", "features"), width("acoustic", "frames")
    fits = {
        "position and hidden rows": (width("pitch", "frames"), hidden + POSITION),
        "prosody": (width("pitch", "prosody"), PROSODY),
        "frames": (frame, hidden + POSITION + PROSODY),
        "features": (width("vocoder", "features"), feature),
        "spectrum": (width("vocoder", "spectrum"), 3 * (facts.window // 2 + 1)),
        "style": (width("encoder", "style"), facts.styles.shape[1]),
        "the acoustic graph's style": (width("acoustic", "style"), facts.styles.shape[1]),
    }
    for what, (there, wanted) in fits.items():
        if there != wanted:
            raise VoiceError(
                f"voice {facts.folder}: {what} are {there} wide, not {wanted}; unpack the voice again"
            )
    states = {name: program.state_bytes for name, program in programs.items() if program.state_bytes}
    return RowSizes(frame, hidden, feature, states)


class Voice:
    """Speaks. Thread-safe: each call of `inference` takes a session of its own."""

    def __init__(self, models: Models, pool: MemoryPool, sessions: int) -> None:
        self.facts: VoiceFacts = models.facts
        self.frontend, self.pool = models.frontend, pool
        sizes, bells = _row_sizes(models.programs, models.facts), Bells()
        slots = [Slot(i, pool, models.facts, sizes, bells) for i in range(sessions)]
        self.pipeline = Pipeline(models, slots, bells)
        self._free = deque(slots)  # its pop and append are atomic
        self._end = weakref.finalize(self, _shut, self.pipeline, pool)

    @overload
    def inference(self, text: str, *, stream: Literal[False] = False, **wishes: Any) -> tuple[Wave, int]: ...
    @overload
    def inference(self, text: str, *, stream: Literal[True], **wishes: Any) -> Utterance: ...
    def inference(self, text: str, *, stream: bool = False, **wishes: Any) -> tuple[Wave, int] | Utterance:
        """Speak `text`: (samples, rate), or with `stream=True` an iterator of chunks as they are made.

        Wishes: speed, volume, seed, voice, chunk_ms, ssml, inline (see `Wishes`). OptionError names a wrong one.
        """
        session = self.session()
        try:
            utterance = session.stream(text, read_wishes(wishes), None if stream else LONGEST_BLOCK)
        except BaseException:
            session.close()
            raise
        utterance.then = session.close
        if stream:
            return utterance
        chunks = [chunk.samples for chunk in utterance]
        return np.concatenate(chunks or [np.zeros(0, np.float32)]), self.facts.rate_hz

    def session(self) -> Session:
        """A session of its own, for several utterances and `cancel()`. OptionError when all are in use."""
        self.pipeline.ready(inline=True)
        if not self._free:  # one that was dropped may be on its way back
            self.pipeline.settle_dropped()
        try:
            return Session(self.pipeline, self._free.popleft(), self._free)
        except IndexError:
            raise OptionError("every session is in use: close one, or load with more sessions=") from None

    def warm_up(self) -> None:
        """Speak a silent sentence through every stage, so that nothing is touched first while speaking."""
        self.frontend.touch()
        for text in ("你好3。", "Hello 5."):  # numbers: their rules are compiled at first use
            for _ in self.inference(text, stream=True, volume=0.0):
                pass

    def close(self) -> None:
        """End the threads and give the memory back; whoever is still listening gets an OptionError."""
        self.pipeline.close()
        self._end()

    def __enter__(self) -> Voice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _shut(pipeline: Pipeline, pool: MemoryPool) -> None:
    """What a voice leaves behind, also one that was dropped without `close`: it may be the collector that calls."""
    pipeline.close(wait=False)
    pool.close()
