"""One utterance after another for one listener: speak, stream, cancel, wipe."""

from __future__ import annotations

import math
import weakref
from collections import deque

from .errors import OptionError, TextError
from .pipeline import Pipeline
from .slot import LONGEST_BLOCK, Request, Slot
from .text import Document, Speakers
from .utterance import Utterance
from .wishes import Wishes


class Session:
    """A slot of the pipeline in use; a context manager. One utterance at a time."""

    def __init__(self, pipeline: Pipeline, slot: Slot, free: deque[Slot]) -> None:
        self.pipeline, self.slot, self.free = pipeline, slot, free
        self.closed = False
        self._current: weakref.ref[Utterance] | None = None

    @property
    def utterance(self) -> Utterance | None:
        """What is being spoken, if anything is."""
        current = self._current() if self._current else None
        return None if current is None or current.closing else current

    def stream(
        self, text: str | Document, wishes: Wishes | None = None, block: int | None = None
    ) -> Utterance:
        """Begin to speak `text`; iterate over what it returns for chunks of `chunk_ms`, the last one shorter.

        `block` frames are worked on at a time, by default a chunk's. Raises OptionError when the session is closed
        or still speaking, TextError when `text` is no string or, with `ssml`, malformed; iterating raises what a
        stage raised.
        """
        wishes = wishes or Wishes()
        if self.closed:
            raise OptionError("the session is closed: take a new one from voice.session()")
        if self.utterance:
            raise OptionError("the session still speaks: read to the end, or close() its stream first")
        if not isinstance(text, str | Document):
            raise TextError(f"text is {type(text).__name__}, not str: decode bytes first")
        if wishes.ssml and isinstance(text, str):
            text = self.read_ssml(text, wishes.ssml == "lenient")
        self.pipeline.ready(wishes.inline)
        self.pipeline.settle(self.slot, self.slot.serial)
        facts = self.pipeline.models.facts
        speaker = facts.speaker(wishes.voice, self.pipeline.models.frontend.language(text))
        size = wishes.chunk_ms * facts.rate_hz // 1000
        block = block or min(size // facts.hop, LONGEST_BLOCK)
        request = Request(text, speaker, wishes.speed, wishes.volume, wishes.seed, block, wishes.read_symbols)
        utterance = Utterance(self.pipeline, self.slot, request, size, wishes.inline)
        self._current = weakref.ref(utterance)
        return utterance

    def read_ssml(self, text: str, lenient: bool = False) -> Document:
        """SSML for this voice, to be spoken by `stream`. TextError with line and column where it is malformed."""
        facts = self.pipeline.models.facts
        voice = Speakers(facts.speakers, facts.defaults, math.exp(facts.log_f0_centre))
        return self.pipeline.models.frontend.ssml(text, lenient, voice)

    def cancel(self) -> None:
        """Stop speaking, from any thread: the stream ends within a chunk, after a fade of 5 ms."""
        if utterance := self.utterance:
            utterance.cancel()

    def close(self) -> None:
        """End what is being spoken, zero the slot's memory and give it back."""
        if self.closed:
            return
        self.closed = True
        slot, free = self.slot, self.free
        slot.once_idle(lambda: free.append(slot))
        if utterance := self.utterance:
            utterance.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
