"""One session's share of the pool: its streaming state, the rings between the stages, and what passes through them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .facts import VoiceFacts
from .pool import MemoryPool
from .realtime import quick_turns
from .ring import Doorbell, ObjectRing, Ring, ring_nbytes
from .synthesis import layout
from .text import Clause, Document, Sentence

MAX_PHONEMES = 256
"""Longest clause, pads included; the frontend cuts before this."""
ROWS_IN_RING = 256
"""Frames that the rings of stages 3 and 4 hold: over three of the longest blocks."""
SAMPLES_IN_RING = 65_536
"""Samples that the PCM ring holds: 2.7 s, so that a longest block fits behind a longest chunk that is not yet whole."""
LONGEST_BLOCK = 75
"""Frames of the longest block that any stage takes at a time (1 s)."""


class End:
    """Passes through every ring after the last item of an utterance."""


END: Final = End()
LISTENER: Final = "listener"
"""Holds a slot beside the stages: whoever reads the utterance."""


@dataclass(frozen=True)
class Request:
    """What a caller wants said, and how."""

    text: str | Document
    speaker: int
    speed: float = 1.0
    volume: float = 1.0
    seed: int = 0
    block: int = 3
    """Frames that the frame-level stages take at a time."""
    read_symbols: bool = False
    """Emoji and markup are read by name."""


@dataclass(frozen=True)
class SpokenWord:
    """A word and when it sounds."""

    text: str
    start: int
    """First character in the text as given."""
    end: int
    """One past its last character."""
    start_s: float
    """Seconds from the beginning of the utterance."""
    end_s: float


@dataclass(frozen=True)
class SpokenMark:
    """A mark of an SSML text, and when speech reaches it."""

    name: str
    time_s: float
    """Seconds from the beginning of the utterance."""


@dataclass(frozen=True)
class Span:
    """A clause on its way from stage 3 to the listener: how long it is and when its words sound.

    Without rows it is silence: a pause, or no more than a place for marks.
    """

    rows: int
    """Frames that pass through the rings, those that flush the lookahead included."""
    unheard: int
    """Frames at the beginning that only bring the graphs' state to rest: their sound is dropped."""
    samples: int
    """Samples of sound it makes, silence behind it included."""
    pause: int
    """Samples of silence among them that follow the last frame."""
    words: tuple[SpokenWord, ...]
    """Times count from the beginning of the clause."""
    style: NDArray[np.float32]
    """(1, S)."""
    request: Request
    gains: tuple[tuple[int, float], ...] = ()
    """From which frame of its sound on, times what it is louder, where that is not the request's volume throughout."""
    marks: tuple[SpokenMark, ...] = ()
    """Times count from the beginning of the clause."""


@dataclass
class Bells:
    """What each stage's thread sleeps on, in the order of the stages."""

    text: Doorbell = field(default_factory=Doorbell)
    phonemes: Doorbell = field(default_factory=Doorbell)
    prosody: Doorbell = field(default_factory=Doorbell)
    acoustic: Doorbell = field(default_factory=Doorbell)
    vocoder: Doorbell = field(default_factory=Doorbell)


@dataclass(frozen=True)
class RowSizes:
    """Columns of the rows in the rings, and bytes of the graphs' streaming state."""

    frame: int
    """Hidden, position and prosody: what the acoustic graph takes."""
    hidden: int
    feature: int
    """What the acoustic graph gives; its ring adds F0 and voicing, now and two frames later."""
    states: dict[str, int]
    """Graph name to bytes."""


class Slot:
    """Memory and rings of one session. All arrays are views of one region, zeroed after each utterance."""

    def __init__(
        self, index: int, pool: MemoryPool, facts: VoiceFacts, sizes: RowSizes, bells: Bells
    ) -> None:
        self.index, self.facts, self.sizes, self._pool = index, facts, sizes, pool
        wanted = _wanted(facts, sizes)
        self.region = pool.region(f"session {index}", sum(_aligned(n) for n in wanted.values()))
        part = _cut(self.region, wanted)
        self.states = {name: part[f"state {name}"] for name in sizes.states}
        self.hidden = part["hidden"].view(np.float32).reshape(MAX_PHONEMES, sizes.hidden)
        self.synthesis = _arrays(part["synthesis"], layout(facts))
        self.feature_rows = part["feature rows"].view(np.float32).reshape(LONGEST_BLOCK, sizes.feature + 4)
        self.f0_history = part["f0 history"].view(np.float32).reshape(-1, 2)
        self.listener = Doorbell()
        self.requests: ObjectRing[Request] = ObjectRing(4, data_bell=bells.text)
        self.sentences: ObjectRing[tuple[Sentence, Request] | End] = ObjectRing(
            4, data_bell=bells.phonemes, space_bell=bells.text
        )
        self.clauses: ObjectRing[tuple[Clause, Request] | End] = ObjectRing(
            4, data_bell=bells.prosody, space_bell=bells.phonemes
        )
        self.frame_spans: ObjectRing[Span | End] = ObjectRing(
            8, data_bell=bells.acoustic, space_bell=bells.prosody
        )
        self.frames = _ring(part["frames"], sizes.frame, ROWS_IN_RING, bells.acoustic, bells.prosody)
        self.feature_spans: ObjectRing[Span | End] = ObjectRing(
            8, data_bell=bells.vocoder, space_bell=bells.acoustic
        )
        self.features = _ring(
            part["features"], sizes.feature + 4, ROWS_IN_RING, bells.vocoder, bells.acoustic
        )
        self.heard: ObjectRing[Span | End] = ObjectRing(8, data_bell=self.listener, space_bell=bells.vocoder)
        self.pcm = Ring(
            part["pcm"], np.float32, (), SAMPLES_IN_RING, data_bell=self.listener, space_bell=bells.vocoder
        )
        self.inline = False
        """The caller's thread works for this slot; the stages' threads pass it by."""
        self.sounding = False
        """The utterance has begun to sound. Until then no stage works ahead: that would only delay it."""
        self._held_back = (bells.phonemes, bells.prosody)
        self.error: BaseException | None = None
        self.serial = 0
        """Counts utterances, so that the end of one never touches the next."""
        self.stopping = False
        """Ended: every stage drops what it has and lets go."""
        self.idle = threading.Event()
        """Nobody works for this slot; it is empty and zero."""
        self.idle.set()
        self._holders = {*vars(bells), LISTENER}
        self._holding = set(self._holders)
        self._then: Callable[[], None] | None = None
        self._speaking = False
        # Held for a few instructions at a time, which allocate nothing that would start the garbage collector.
        self._ending = threading.RLock()

    @property
    def rings(self) -> tuple[Ring | ObjectRing[Any], ...]:
        """Every ring, from text to sound."""
        return (
            *(self.requests, self.sentences, self.clauses, self.frame_spans, self.frames),
            *(self.feature_spans, self.features, self.heard, self.pcm),
        )

    def begin_sound(self) -> None:
        """The first samples are there: the stages before may work ahead now."""
        if not self.sounding:
            self.sounding = True
            for bell in self._held_back:
                bell.ring()

    def begin(self, request: Request, inline: bool) -> int:
        """Take up an utterance, on an idle slot; returns its serial number."""
        self.serial += 1
        self._holding = set(self._holders)
        self.inline = inline
        self.idle.clear()
        self._speaking = True
        quick_turns.begin()
        self.requests.push(request)
        return self.serial

    def stop(self, serial: int) -> None:
        """End that utterance, if it is still the one in hand: its holders shall let go. Never blocks."""
        with self._ending:
            if serial == self.serial and not self.idle.is_set():
                self.stopping = True
        self.listener.ring()

    def let_go(self, holder: str, serial: int) -> None:
        """A stage or the listener holds nothing of a stopped utterance any more; the last one wipes the slot."""
        with self._ending:
            if serial != self.serial or not self.stopping or holder not in self._holding:
                return
            self._holding.discard(holder)
            if self._holding:
                return
        self._wipe()
        with self._ending:
            if self._then:
                self._then()
            self._then = None
            self.hush()
            self.idle.set()

    def hush(self) -> None:
        """It speaks no more; also when its voice was closed meanwhile, and nobody is left to let go."""
        with self._ending:
            was, self._speaking = self._speaking, False
        if was:
            quick_turns.end()

    def holds(self, holder: str) -> bool:
        """Whether a holder of a stopped utterance has still to let go."""
        return holder in self._holding

    def once_idle(self, then: Callable[[], None]) -> None:
        """Call `then`, which must not block, when the slot is idle: at once, or by whoever lets go last."""
        with self._ending:
            if not self.idle.is_set():
                self._then = then
                return
        then()

    def _wipe(self) -> None:
        """Drop what is in the rings and zero every byte."""
        for ring in self.rings:
            ring.clear()
        self._pool.wipe(self.region)
        self.error = None
        self.sounding = self.inline = self.stopping = False


def _wanted(facts: VoiceFacts, sizes: RowSizes) -> dict[str, int]:
    return {
        **{f"state {name}": n for name, n in sizes.states.items()},
        "hidden": MAX_PHONEMES * sizes.hidden * 4,
        "synthesis": sum(_aligned(_nbytes(*spec)) for spec in layout(facts).values()),
        "feature rows": LONGEST_BLOCK * (sizes.feature + 4) * 4,
        "f0 history": (facts.lookahead_frames + LONGEST_BLOCK) * 2 * 4,
        "frames": ring_nbytes(np.float32, (sizes.frame,), ROWS_IN_RING),
        "features": ring_nbytes(np.float32, (sizes.feature + 4,), ROWS_IN_RING),
        "pcm": ring_nbytes(np.float32, (), SAMPLES_IN_RING),
    }


def _ring(part: NDArray[np.uint8], columns: int, rows: int, data: Doorbell, space: Doorbell) -> Ring:
    return Ring(part, np.float32, (columns,), rows, data_bell=data, space_bell=space)


def _arrays(
    part: NDArray[np.uint8], specs: dict[str, tuple[tuple[int, ...], Any]]
) -> dict[str, NDArray[Any]]:
    cut = _cut(part, {name: _nbytes(*spec) for name, spec in specs.items()})
    return {name: cut[name].view(dtype).reshape(shape) for name, (shape, dtype) in specs.items()}


def _cut(region: NDArray[np.uint8], wanted: dict[str, int]) -> dict[str, NDArray[np.uint8]]:
    parts, at = {}, 0
    for name, nbytes in wanted.items():
        parts[name] = region[at : at + nbytes]
        at += _aligned(nbytes)
    return parts


def _nbytes(shape: tuple[int, ...], dtype: Any) -> int:
    return int(np.prod(shape)) * np.dtype(dtype).itemsize


def _aligned(nbytes: int) -> int:
    return -(-nbytes // 64) * 64
