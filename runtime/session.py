"""One utterance after another for one listener: speak, stream, cancel, wipe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .errors import OptionError
from .pipeline import Pipeline
from .slot import LONGEST_BLOCK, End, Request, Slot, SpokenWord

CHUNK_MS = 40
MAX_CHUNK_MS = 1000
FADE_MS = 5
WAIT_S = 1.0


@dataclass(frozen=True)
class Wishes:
    """A caller's options, checked."""

    speed: float = 1.0
    """0.8 to 1.3."""
    volume: float = 1.0
    """0 to 2; 1 is as trained."""
    seed: int = 0
    """Fixes the noise: same text, same audio."""
    voice: str | None = None
    """Speaker name; None chooses by language."""
    chunk_ms: int = CHUNK_MS
    """Milliseconds of sound a chunk, a multiple of 40."""
    inline: bool = False
    """Run the stages in the caller's thread."""

    def __post_init__(self) -> None:
        _check("speed", self.speed, 0.8, 1.3)
        _check("volume", self.volume, 0.0, 2.0)
        _check("chunk_ms", self.chunk_ms, CHUNK_MS, MAX_CHUNK_MS)
        if self.chunk_ms % CHUNK_MS:
            raise OptionError(f"chunk_ms is {self.chunk_ms}: use a multiple of {CHUNK_MS}")
        if not isinstance(self.seed, int) or self.seed < 0:
            raise OptionError(f"seed is {self.seed!r}: use a whole number, 0 or more")


def _check(name: str, value: float, low: float, high: float) -> None:
    if not isinstance(value, (int, float)) or not low <= value <= high:
        raise OptionError(f"{name} is {value!r}: use a number from {low} to {high}")


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


class Session:
    """A slot of the pipeline in use; a context manager. One utterance at a time."""

    def __init__(self, pipeline: Pipeline, slot: Slot) -> None:
        self.pipeline, self.slot, self.rate = pipeline, slot, pipeline.models.facts.rate_hz
        self.speaking = self.closed = self.cancelled = False

    def stream(self, text: str, wishes: Wishes | None = None, block: int | None = None) -> Iterator[Chunk]:
        """Speak `text`; yields chunks of `chunk_ms`, the last one shorter, as they are made.

        Raises what a stage raised; OptionError when the session is closed or still speaking.
        """
        wishes = wishes or Wishes()
        self._begin(text, wishes, block)
        try:
            yield from self._chunks(wishes.chunk_ms * self.rate // 1000)
        finally:
            self._end()

    def _begin(self, text: str, wishes: Wishes, block: int | None) -> None:
        if self.closed or self.speaking:
            raise OptionError(
                "the session is closed" if self.closed else "the session still speaks: cancel() it first"
            )
        models, slot = self.pipeline.models, self.slot
        speaker = models.facts.speaker(wishes.voice, models.frontend.language(text))
        self.speaking, self.cancelled = True, False
        slot.inline = wishes.inline
        if not wishes.inline:
            self.pipeline.start()
        frames = wishes.chunk_ms * self.rate // 1000 // models.facts.hop
        block = block or min(frames, LONGEST_BLOCK)
        slot.requests.push(Request(text, speaker, wishes.speed, wishes.volume, wishes.seed, block))

    def _chunks(self, size: int) -> Iterator[Chunk]:
        timeline = Timeline(self.slot)
        at = 0
        while not self.cancelled:
            self._wait(lambda: timeline.ready(size))
            if self.slot.error is not None:
                raise self.slot.error
            if self.cancelled:
                break
            samples = np.empty(min(size, self.slot.pcm.readable), np.float32)
            if not len(samples):
                return
            self.slot.pcm.pop(samples)
            yield self._chunk(timeline, samples, at)
            at += len(samples)
        if len(rest := self._faded()):
            yield self._chunk(timeline, rest, at)

    def _chunk(self, timeline: Timeline, samples: NDArray[np.float32], at: int) -> Chunk:
        start_s, end_s = at / self.rate, (at + len(samples)) / self.rate
        return Chunk(samples, self.rate, start_s, timeline.words(start_s, end_s))

    def _wait(self, ready: object) -> None:
        """Until there is a chunk, the end, an error or a cancel; inline, by working for it."""
        slot = self.slot

        def done() -> bool:
            return self.cancelled or slot.error is not None or ready()  # type: ignore[operator]

        while not done():
            if slot.inline:
                self.pipeline.step(slot)
            else:
                slot.listener.wait(done, WAIT_S)

    def _faded(self) -> NDArray[np.float32]:
        """The last few milliseconds of a cancelled utterance, faded out."""
        fade = np.empty(min(FADE_MS * self.rate // 1000, self.slot.pcm.readable), np.float32)
        self.slot.pcm.pop(fade)
        return fade * np.linspace(1, 0, len(fade), dtype=np.float32)

    def cancel(self) -> None:
        """Stop speaking, from any thread: the stream ends within a chunk, after a fade of 5 ms."""
        self.cancelled = True
        self.slot.listener.ring()

    def _end(self) -> None:
        """Make every stage let go of the utterance, then empty the rings."""
        slot = self.slot
        slot.stopped.clear()
        slot.stopping = True
        names = {stage.name for stage in self.pipeline.stages}
        while slot.stopped != names:
            if slot.inline or not self.pipeline.threads:
                self.pipeline.step(slot)
            else:
                self.pipeline.wake()
                slot.listener.wait(lambda: slot.stopped == names, 0.01)
        slot.wipe()
        slot.error = None
        slot.stopping = False
        self.speaking = False

    def close(self) -> None:
        """Cancel, zero the slot's memory and give it back."""
        self.cancel()
        if not self.closed and not self.speaking:
            self.slot.wipe()
        self.closed = True

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Timeline:
    """When the words of an utterance sound, as its clauses arrive."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.spoken: list[SpokenWord] = []
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
            self.offset += item.samples

    def words(self, start_s: float, end_s: float) -> tuple[SpokenWord, ...]:
        """Words that sound between two times; those before are forgotten."""
        self.spoken = [w for w in self.spoken if w.end_s > start_s]
        return tuple(w for w in self.spoken if w.start_s < end_s)
