"""Pronunciations given in the text itself, `[word](/…/)`, and by the user's dictionary.

Each such word travels through normalisation as one private-use character, which no rule touches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .clean import Cleaned
from .userdict import UserWords
from .words_en import add_s

FIRST = 0xE000
MARK = re.compile("[\ue000-\uf8ff]")
POSSESSIVE = re.compile("'s(?![A-Za-z])")
MOST = 0xF8FF - FIRST
"""Words that can be given in a sentence."""


@dataclass(frozen=True)
class Given:
    """A word whose symbols are known beforehand."""

    word: str
    phonemes: str
    origin: str
    """Who gave it: "inline", "user dictionary"; in a document also "phoneme", "say-as …", "break" or "voice"."""
    said: tuple[str, str] = ("", "")
    """Its words in English and in Chinese, in place of symbols."""
    gap_s: float | None = None
    """Of a break: seconds."""
    at: int = -1
    """Of a cut: where it stands in the document's text."""

    @property
    def is_cut(self) -> bool:
        """Whether it says nothing, but ends the clause."""
        return not (self.phonemes or any(self.said))


def mark(number: int) -> str:
    """The character that stands for the word `number` of a sentence."""
    return chr(FIRST + number)


def replace(source: Cleaned, words: UserWords, given: list[Given]) -> Cleaned:
    """The text with the dictionary's words as marks; `given` grows by what they stand for."""
    out: list[str] = []
    offsets: list[int] = []
    at = 0
    for start, end in words.find(source.text):
        if len(given) == MOST:
            break
        out += source.text[at:start]
        offsets += source.offsets[at:start]
        out.append(mark(len(given)))
        offsets.append(source.offsets[start])
        word = source.text[start:end]
        phonemes = words.phonemes[word.lower()]
        if POSSESSIVE.match(source.text, end):
            phonemes, end = add_s(phonemes), end + 2
        given.append(Given(source.text[start:end], phonemes, "user dictionary"))
        at = end
    out += source.text[at:]
    offsets += source.offsets[at:]
    return Cleaned("".join(out), tuple(offsets), source.unknown)


def given_at(text: str, given: tuple[Given, ...]) -> Given | None:
    """The word that a text of one mark stands for, None for any other text."""
    number = ord(text) - FIRST if len(text) == 1 else -1
    return given[number] if 0 <= number < len(given) else None


def restored(text: str, given: tuple[Given, ...]) -> str:
    """The text with the words themselves for their marks."""
    if not given:
        return text
    return MARK.sub(lambda m: word.word if (word := given_at(m.group(), given)) else "", text)
