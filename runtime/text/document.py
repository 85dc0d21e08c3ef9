"""A text whose author says how it is spoken (SSML): plain text, and beside it what its markup asked for.

A reading made by the markup (`say-as`, `phoneme`) and a cut (`break`, a change of voice) stand in the plain text as one
OBJECT character each, so that the sentence around them keeps its context.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from .given import Given
from .manner import Manner

OBJECT = "\ufffc"


@dataclass(frozen=True)
class Document:
    """What the frontend reads in place of plain text. Positions count characters of `text`, unless of `source`."""

    source: str
    """The document as given."""
    text: str
    """What is spoken of it, without markup."""
    objects: dict[int, Given]
    """What each OBJECT character stands for, by position."""
    places: tuple[tuple[int, int, int], ...]
    """(position, start, end): text from there on is source[start:end], character by character where end is -1."""
    manners: tuple[tuple[int, Manner], ...]
    """From which position on, which manner."""
    langs: tuple[tuple[int, str], ...]
    """From which position on, which language was asked for: "zh", "en", or "" for what the text itself says."""
    marks: tuple[tuple[int, str], ...]
    """Position and name of each mark, in order."""
    lang: str
    """Language of what has no letters: "zh" or "en"."""

    def __str__(self) -> str:
        return self.text

    def plain(self, first: int, part: str) -> str:
        """A part of the text that begins at a position, with the words of its objects."""
        if OBJECT not in part:
            return part
        return "".join(self.objects[i].word if c == OBJECT else c for i, c in enumerate(part, first))

    def source_span(self, first: int, last: int) -> tuple[int, int]:
        """source[start:end] that text[first:last] stands for."""
        start = self._source(first)[0]
        return start, max(start, self._source(max(first, last - 1))[1])

    def _source(self, at: int) -> tuple[int, int]:
        position, start, end = self.places[max(0, bisect_right(self.places, at, key=_position) - 1)]
        start = start if end >= 0 else min(start + at - position, len(self.source))
        return start, end if end >= 0 else min(start + 1, len(self.source))

    def manner(self, at: int) -> Manner:
        """How the character at a position is spoken."""
        return self.manners[bisect_right(self.manners, at, key=_position) - 1][1]

    def has_one_manner(self, first: int, last: int) -> bool:
        """Whether nothing changes within text[first:last]."""
        after = bisect_right(self.manners, first, key=_position)
        return after == len(self.manners) or self.manners[after][0] >= last

    def language_runs(self, offsets: tuple[int, ...]) -> list[tuple[int, int, str]]:
        """(first, last, language asked for) of the runs of characters at these positions; the last is the end."""
        size = len(offsets) - 1
        first = bisect_right(self.langs, offsets[0], key=_position) - 1
        langs = self.langs[first : bisect_left(self.langs, offsets[size], key=_position)]
        borders = [0, *(bisect_left(offsets, at, 0, size) for at, _ in langs[1:]), size]
        runs = zip(borders, borders[1:], langs, strict=False)
        return [(first, last, lang) for first, last, (_, lang) in runs if first < last]

    def marks_between(self, first: int, last: int) -> list[tuple[int, str]]:
        """Marks at first <= position < last."""
        low, high = (bisect_left(self.marks, at, key=_position) for at in (first, last))
        return list(self.marks[low:high])

    def speakers(self) -> set[str]:
        """Names of the speakers that are asked for."""
        return {manner.speaker for _, manner in self.manners if manner.speaker}


def _position(item: tuple[int, *tuple[object, ...]]) -> int:
    return item[0]
