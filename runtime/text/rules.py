"""Applies normalisation rules in one pass over cleaned text, keeping the way back to the source."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .clean import Cleaned
from .types import Piece

Say = Callable[[re.Match[str]], str | None]


@dataclass(frozen=True)
class Rule:
    """Reads what `pattern` matches as `say` writes it; None lets the next rule try."""

    name: str
    pattern: re.Pattern[str]
    say: Say


def rule(name: str, pattern: str, say: Say) -> Rule:
    """A rule from its pattern's text."""
    return Rule(name, re.compile(pattern), say)


class Writer:
    """Collects pieces; puts a space where a reading would touch a word."""

    def __init__(self, source: Cleaned) -> None:
        self.source = source
        self.pieces: list[Piece] = []
        self._last = ""

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


def first_that_fits(rules: tuple[Rule, ...], text: str, at: int, end: int) -> tuple[int, str, str] | None:
    """(end, reading, rule name) of the first rule that fits at `at`, else None."""
    for rule in rules:
        match = rule.pattern.match(text, at, end)
        if match and match.end() > at:
            reading = rule.say(match)
            if reading is not None:
                return match.end(), reading, rule.name
    return None
