"""Stage 2: sentences to clauses of phoneme ids."""

from __future__ import annotations

from collections.abc import Iterator

from ..slot import END, End, Request, Slot
from ..text import Clause, Frontend


class PhonemeWorker:
    """Pronounces sentences: segmentation, lexicons, sandhi, letter-to-sound."""

    def __init__(self, slot: Slot, frontend: Frontend) -> None:
        self.slot, self.frontend = slot, frontend
        self.reset()

    def reset(self) -> None:
        self.request: Request | None = None
        self.pushed = False
        self.clauses: Iterator[Clause] = iter(())

    def step(self) -> bool:
        slot = self.slot
        if not slot.clauses.writable or (self.pushed and not slot.sounding):
            return False
        if self.request is not None:
            clause = next(self.clauses, None)
            if clause is not None:
                self.pushed = True
                return slot.clauses.push((clause, self.request))
            self.request = None
        item = slot.sentences.pop()
        if item is None:
            return False
        if isinstance(item, End):
            self.reset()
            return slot.clauses.push(END)
        sentence, self.request = item
        self.clauses = self.frontend.pronounce(sentence)
        return True
