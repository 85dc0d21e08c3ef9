"""Applies normalisation rules in one pass over cleaned text, keeping the way back to the source."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from . import shown
from .clean import Cleaned
from .given import Given, given_at
from .lazy import LazyPattern
from .types import Piece

Found = tuple[int, str, str]
"""(end, reading, rule name) of what a rule reads."""
Say = Callable[[re.Match[str]], str | None]


@dataclass(frozen=True)
class Rule:
    """Reads what `pattern` matches as `say` writes it; None lets the next rule try."""

    name: str
    pattern: LazyPattern
    say: Say


def rule(name: str, pattern: str, say: Say) -> Rule:
    """A rule from its pattern's text."""
    return Rule(name, LazyPattern(pattern), say)


class Writer:
    """Collects pieces; puts a space where a reading would touch a word."""

    def __init__(self, source: Cleaned, read_symbols: bool = False, given: tuple[Given, ...] = ()) -> None:
        self.source = source
        self._given = given
        self._read_symbols = read_symbols
        self.pieces: list[Piece] = []
        self._last = ""

    def named(self, at: int, end: int, found: Found | None, lang: int) -> Found | None:
        """What a rule found at source.text[at]; where it says nothing, the sign's name if signs are read.

        Words that a document gives come first.
        """
        word = given_at(self.source.text[at], self._given) if self._given else None
        if word and any(word.said):
            return at + 1, word.said[lang], word.origin
        if self._read_symbols and (found is None or not found[1].strip()):
            return shown.name(self.source.text, at, end, lang) or found
        return found

    def literal(self, first: int, last: int) -> None:
        """source.text[first:last] as it is."""
        if first >= last:
            return
        text = self.source.text[first:last]
        offsets = self.source.offsets
        if self.pieces and self.pieces[-1].rule and _touch(self._last, text[0]):
            self.pieces.append(Piece(" ", offsets[first], offsets[first], "space"))
        self.pieces.append(Piece(text, offsets[first], offsets[last - 1] + 1, "", offsets[first : last + 1]))
        self._last = text[-1]

    def reading(self, first: int, last: int, text: str, rule: str) -> None:
        """`text` for source.text[first:last]."""
        if text and self._last and _touch(self._last, text[0]):
            text = " " + text
        offsets = self.source.offsets
        self.pieces.append(Piece(text, offsets[first], offsets[last - 1] + 1, rule))
        self._last = text[-1:] or self._last


def _touch(left: str, right: str) -> bool:
    return left.isascii() and left.isalnum() and right.isascii() and right.isalnum()


def first_that_fits(rules: tuple[Rule, ...], text: str, at: int, end: int) -> Found | None:
    """(end, reading, rule name) of the first rule that fits at `at`, else None."""
    for rule in rules:
        match = rule.pattern.match(text, at, end)
        if match and match.end() > at:
            reading = rule.say(match)
            if reading is not None:
                return match.end(), reading, rule.name
    return None
