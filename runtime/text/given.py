"""Pronunciations given in the text itself, `[word](/…/)`, and by the user's dictionary.

Each such word travels through normalisation as one private-use character, which no rule touches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .clean import Cleaned

FIRST = 0xE000
MARK = re.compile("[\ue000-\uf8ff]")


@dataclass(frozen=True)
class Given:
    """A word whose symbols are known beforehand."""

    word: str
    phonemes: str


def mark(number: int) -> str:
    """The character that stands for the word `number` of a sentence."""
    return chr(FIRST + number)


def replace(
    source: Cleaned, pattern: re.Pattern[str], phonemes: dict[str, str], given: list[Given]
) -> Cleaned:
    """The text with the dictionary's words as marks; `given` grows by what they stand for."""
    out: list[str] = []
    offsets: list[int] = []
    at = 0
    for match in pattern.finditer(source.text):
        if len(given) >= 6000:
            break
        out += source.text[at : match.start()]
        offsets += source.offsets[at : match.start()]
        out.append(mark(len(given)))
        offsets.append(source.offsets[match.start()])
        given.append(Given(match.group(), phonemes[match.group().lower()]))
        at = match.end()
    out += source.text[at:]
    offsets += source.offsets[at:]
    return Cleaned("".join(out), tuple(offsets), source.unknown)


def restored(text: str, given: tuple[Given, ...]) -> str:
    """The text with the words themselves for their marks."""
    return MARK.sub(
        lambda m: given[ord(m.group()) - FIRST].word if ord(m.group()) - FIRST < len(given) else "", text
    )
