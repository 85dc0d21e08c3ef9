"""Puts a Document together, piece by piece, from what its markup says."""

from __future__ import annotations

import re
from typing import TypeVar

from .document import OBJECT, Document
from .given import Given
from .manner import PLAIN, Manner
from .scripts import HAN, LATIN, language

NOTHING, SPACE, LINE, SENTENCE, PARAGRAPH = range(5)
"""What stands before the next text, the stronger over the weaker."""
WRITTEN = {SENTENCE: "\n ", PARAGRAPH: "\n\n"}
"""Neither is ever taken for a line that goes on (split.py)."""
RUN = re.compile(r"\S+(?: \S+)*")
T = TypeVar("T")


class Builder:
    """Collects text with its places in the source, and what changes along it."""

    def __init__(self, source: str, line: str = " ") -> None:
        self._source, self._line = source, line
        self._parts: list[str] = []
        self._size = 0
        self._before = NOTHING
        self._places = [(0, 0, -1)]
        self._objects: dict[int, Given] = {}
        self._manners = [(0, PLAIN)]
        self._langs = [(0, "")]
        self._marks: list[tuple[int, str]] = []

    def text(self, data: str, at: int) -> None:
        """Text that stands at source[at:]; white space is one space, or none where a line breaks between Chinese."""
        end = 0
        for run in RUN.finditer(data.replace(OBJECT, " ")):
            self._space(data[end : run.start()])
            self._add(run.group(), at + run.start(), -1)
            end = run.end()
        self._space(data[end:])

    def instead(self, text: str, start: int, end: int) -> None:
        """Text that is said instead of source[start:end]."""
        text = " ".join(text.replace(OBJECT, " ").split())
        if text:
            self._add(text, start, end)

    def say(self, given: Given, start: int, end: int) -> None:
        """A reading that is known beforehand, of source[start:end]."""
        self._flush(OBJECT)
        self._object(given, start, end)

    def cut(self, gap_s: float | None, start: int, end: int) -> None:
        """The clause ends here, and with it what a change of voice (None) or a pause divides."""
        if gap_s is None and (not self._size or self._is_cut(self._size - 1)):
            return
        origin = "voice" if gap_s is None else "break"
        self._object(Given("", "", origin, gap_s=gap_s, at=self._size), start, end)
        self._before = max(self._before, SPACE)

    def boundary(self, kind: int) -> None:
        """A sentence or a paragraph ends, or begins."""
        self._before = max(self._before, kind)

    def mark(self, name: str) -> None:
        """A mark between what is said before and after."""
        self._marks.append((self._size, name))

    def now(self, manner: Manner, lang: str) -> None:
        """How the text from here on is spoken."""
        _change(self._manners, self._size, manner)
        _change(self._langs, self._size, lang)

    def document(self, lang: str = "") -> Document:
        """What was collected. `lang` is asked for where no letters tell."""
        text = "".join(self._parts)
        if not (HAN.search(text) or LATIN.search(text)) and lang:
            own = lang
        else:
            own = "en" if language(text) == "en" else "zh"
        return Document(
            source=self._source,
            text=text,
            objects=self._objects,
            places=tuple(self._places),
            manners=tuple(self._manners),
            langs=tuple(self._langs),
            marks=tuple(self._marks),
            lang=own,
        )

    def _add(self, text: str, start: int, end: int) -> None:
        self._flush(text[0])
        self._places.append((self._size, start, end))
        self._parts.append(text)
        self._size += len(text)

    def _object(self, given: Given, start: int, end: int) -> None:
        self._objects[self._size] = given
        self._places.append((self._size, start, end))
        self._parts.append(OBJECT)
        self._size += 1

    def _is_cut(self, at: int) -> bool:
        return at in self._objects and self._objects[at].is_cut

    def _space(self, white: str) -> None:
        if white:
            self._before = max(self._before, LINE if "\n" in white else SPACE)

    def _flush(self, following: str) -> None:
        """Write what stands before the next text."""
        before, self._before = self._before, NOTHING
        if not self._size or before == NOTHING:
            return
        white = WRITTEN.get(before, self._line if before == LINE else " ")
        if white == " " and before == LINE and HAN.match(self._parts[-1][-1]) and HAN.match(following):
            return
        self._parts.append(white)
        self._size += len(white)


def _change(items: list[tuple[int, T]], at: int, value: T) -> None:
    """Add (at, value) to what changes along a text: of several at one position the last counts."""
    if items[-1][0] == at:
        items.pop()
    if not items or items[-1][1] != value:
        items.append((at, value))
