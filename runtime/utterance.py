"""One text being spoken: an iterator of chunks, and the way its slot is emptied however it ends."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .errors import OptionError
from .pipeline import Pipeline
from .slot import LISTENER, End, Request, Slot, SpokenMark, SpokenWord

FADE_MS = 5
WAIT_S = 1.0


@dataclass(frozen=True)
class Chunk:
    """A piece of speech as it is made."""

    samples: NDArray[np.float32]
    """(n,) mono, within -1..1; the caller's own copy."""
    rate: int
    """Samples a second."""
    start_s: float
    """Seconds of sound before this chunk."""
    words: tuple[SpokenWord, ...]
    """Words that sound during it; times from the beginning of the utterance."""
    marks: tuple[SpokenMark, ...] = ()
    """Marks of an SSML text that are reached during it, each once; those behind the last sound come without samples."""


class Utterance:
    """Yields the chunks of one text; `close` ends it early, and so does dropping it.

    Ending never waits on a thread that might be waiting on us: the slot is told to stop, each stage lets go of it
    when it comes by, and whoever lets go last wipes it. So it may be dropped anywhere, even by the garbage
    collector inside a stage.
    """

    def __init__(self, pipeline: Pipeline, slot: Slot, request: Request, size: int, inline: bool) -> None:
        self.pipeline, self.slot, self.size = pipeline, slot, size
        self.rate = pipeline.models.facts.rate_hz
        self.cancelled = self.closing = False
        self.at = 0
        self._busy = threading.Lock()  # held while a thread is inside __next__
        self._timeline = Timeline(slot)
        self.then: Callable[[], None] = _nothing
        """Called when it has ended, also when it was dropped."""
        self.serial = slot.begin(request, inline)

    def __iter__(self) -> Utterance:
        return self

    def __next__(self) -> Chunk:
        """The next chunk, as soon as it is made. Raises what a stage raised."""
        if not self._busy.acquire(blocking=False):
            raise OptionError("another thread is reading this utterance: read it in one")
        try:
            chunk = None if self.closing else self._take()
        except BaseException:
            self._busy.release()
            self.close()
            raise
        self._busy.release()
        if chunk is None:
            self.close()
            raise StopIteration
        if self.closing:  # by another thread, meanwhile
            self._leave()
        return chunk

    def _take(self) -> Chunk | None:
        pcm = self.slot.pcm
        self._wait(lambda: self._timeline.ready(self.size))
        if self.slot.error is not None:
            raise self.slot.error
        if self.closing:
            return None
        if self.pipeline.closed:
            raise OptionError("the voice was closed while it spoke: load it again")
        if self.cancelled:
            self.closing = True
            return self._chunk(self._faded()) if pcm.readable else None
        samples = np.empty(min(self.size, pcm.readable), np.float32)
        if not len(samples):
            return self._chunk(samples) if self._timeline.marks else None
        pcm.pop(samples)
        return self._chunk(samples)

    def _wait(self, ready: Callable[[], bool]) -> None:
        """Until there is a chunk, the end, an error or a cancel; inline, by working for it."""
        slot, pipeline = self.slot, self.pipeline

        def done() -> bool:
            return self.cancelled or self.closing or pipeline.closed or slot.error is not None or ready()

        while not done():
            if slot.inline:
                pipeline.step(slot)
            else:
                slot.listener.wait(done, WAIT_S)

    def _chunk(self, samples: NDArray[np.float32]) -> Chunk:
        start_s, end_s = self.at / self.rate, (self.at + len(samples)) / self.rate
        self.at += len(samples)
        marks = self._timeline.reached(end_s if len(samples) else math.inf)
        return Chunk(samples, self.rate, start_s, self._timeline.words(start_s, end_s), marks)

    def _faded(self) -> NDArray[np.float32]:
        """The last few milliseconds of a cancelled utterance, faded out."""
        fade = np.empty(min(FADE_MS * self.rate // 1000, self.slot.pcm.readable), np.float32)
        self.slot.pcm.pop(fade)
        return fade * np.linspace(1, 0, len(fade), dtype=np.float32)

    def cancel(self) -> None:
        """Stop speaking, from any thread: the iterator ends within a chunk, after a fade of 5 ms."""
        self.cancelled = True
        self.slot.listener.ring()

    def close(self) -> None:
        """End now, from any thread; returns once the slot is empty and zero."""
        self._stop()
        if self._busy.acquire(blocking=False):  # else the thread inside __next__ leaves by itself
            self._busy.release()
            self._leave()
        self.pipeline.settle(self.slot, self.serial)
        self.then()

    def _stop(self) -> None:
        self.closing = True
        self.slot.stop(self.serial)
        self.pipeline.wake()

    def _leave(self) -> None:
        self._stop()
        self.slot.let_go(LISTENER, self.serial)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # begun only in part
            self._leave()
            self.then()


def _nothing() -> None:
    """What follows an utterance in a session that goes on."""


class Timeline:
    """When the words of an utterance sound, as its clauses arrive."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.spoken: list[SpokenWord] = []
        self.marks: list[SpokenMark] = []
        self.offset = 0
        self.ended = False

    def ready(self, size: int) -> bool:
        """Whether `size` samples can be read, or all that is left of the utterance."""
        self._collect()
        return self.ended or self.slot.pcm.readable >= size

    def _collect(self) -> None:
        while (item := self.slot.heard.pop()) is not None:
            if isinstance(item, End):
                self.ended = True
                return
            base = self.offset / self.slot.facts.rate_hz
            self.spoken += [replace(w, start_s=w.start_s + base, end_s=w.end_s + base) for w in item.words]
            self.marks += [replace(m, time_s=m.time_s + base) for m in item.marks]
            self.offset += item.samples

    def reached(self, end_s: float) -> tuple[SpokenMark, ...]:
        """Marks before a time that were not yet told."""
        reached = tuple(m for m in self.marks if m.time_s < end_s)
        if reached:
            self.marks = [m for m in self.marks if m.time_s >= end_s]
        return reached

    def words(self, start_s: float, end_s: float) -> tuple[SpokenWord, ...]:
        """Words that sound between two times; those before are forgotten."""
        self.spoken = [w for w in self.spoken if w.end_s > start_s]
        return tuple(w for w in self.spoken if w.start_s < end_s)
