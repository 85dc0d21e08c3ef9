"""Stage 1: text to normalised sentences, one at a time, so that a long text never delays its first sound."""

from __future__ import annotations

from collections.abc import Iterator

from ..slot import END, Request, Slot
from ..text import Frontend, Sentence


class TextWorker:
    """Splits and normalises the text of a request."""

    def __init__(self, slot: Slot, frontend: Frontend) -> None:
        self.slot, self.frontend = slot, frontend
        self.reset()

    def reset(self) -> None:
        self.request: Request | None = None
        self.sentences: Iterator[Sentence] = iter(())

    def step(self) -> bool:
        slot = self.slot
        if self.request is None:
            self.request = slot.requests.pop()
            if self.request is None:
                return False
            self.sentences = self.frontend.sentences(self.request.text, self.request.read_symbols)
        if not slot.sentences.writable:
            return False
        sentence = next(self.sentences, None)
        if sentence is None:
            slot.sentences.push(END)
            self.reset()
        else:
            slot.sentences.push((sentence, self.request))
        return True
