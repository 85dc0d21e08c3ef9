"""Finds sentence after sentence in a text, looking no further than each one's end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .scripts import HAN_CLASS
from .tables import rows

LONGEST = 400
"""Characters: a sentence without any end is cut at the last pause before this, else at the last space."""
PARAGRAPH_PAUSE_S = 0.35

ENDS = re.compile(r"[。！？!?…]+|\.+|\n")
CLOSERS = re.compile(
    r"[\"'”’」』】）)》〉\]*_\u2600-\u27bf\u2b00-\u2bff\ufe0f\u200d\U0001f000-\U0001faff\ufffc]*"
)
"""What belongs to the sentence before it: quotes, brackets, markup, emoji, a document's breaks (document.py)."""
SOFT = re.compile(r"[，、；：,;:—]|\s")
AFTER_STOP = re.compile(rf"\s|$|[{HAN_CLASS}]")
LAST_WORD = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]+$")
NUMBER = re.compile(r"\s?(?:\d|[IVX]+\b)")
NUMBERED = re.compile(r"(?:^|\s)\d{1,2}$")


@dataclass(frozen=True)
class Span:
    """One sentence of the source: [start, end), with its pause."""

    start: int
    end: int
    pause_s: float


def spans(source: str) -> Iterator[Span]:
    """Sentences of the source in order; blank ones are left out."""
    start, size = 0, len(source)
    while start < size:
        end = _end(source, start)
        after = end
        newlines = 0
        while after < size and (source[after].isspace() or source[after] == "\ufeff"):
            newlines += source[after] == "\n"
            after += 1
        if source[start:end].strip():
            yield Span(start, end, PARAGRAPH_PAUSE_S if newlines > 1 else 0.0)
        start = after


def _end(source: str, start: int) -> int:
    """Where the sentence that begins at `start` ends."""
    limit = min(len(source), start + LONGEST)
    for match in ENDS.finditer(source, start, limit):
        if match.group() == "\n":
            if not _is_wrapped(source, match.start(), start):
                return match.start()
        elif match.group()[0] != "." or not _is_inside(source, match, start):
            closed = CLOSERS.match(source, match.end(), limit)
            end = closed.end() if closed else match.end()
            if match.group()[0] in "。！？" or AFTER_STOP.match(source, end):
                return end
    if limit == len(source):
        return limit
    cuts = SOFT.finditer(source, start + LONGEST // 2, limit)
    return max(((not m.group().isspace(), m.end()) for m in cuts), default=(False, limit))[1]


def _is_wrapped(source: str, newline: int, start: int) -> bool:
    """A line break inside a sentence: a long line goes on with a small letter."""
    after = source[newline + 1 : newline + 2]
    return newline - start > 40 and after.islower() and source[newline - 1] not in ".:;,!?"


def _is_inside(source: str, stop: re.Match[str], start: int) -> bool:
    """A full stop that ends no sentence: decimals, abbreviations, initials, list numbers."""
    if len(stop.group()) > 1:
        return False
    before = LAST_WORD.search(source, max(start, stop.start() - 20), stop.start())
    following = source[stop.end() : stop.end() + 2]
    if before:
        word = before.group()
        kind = _abbreviations().get(word)
        if kind == "number":
            kind = "before" if NUMBER.match(source, stop.end()) else ""
        if kind == "before" or (kind == "both" and not _starts_sentence(source, stop.end())):
            return True
        if (len(word) == 1 and word.isupper() and word != "I") or "." in word:
            return not (following.strip() == "" and not source[stop.end() : stop.end() + 40].strip()) and (
                not _starts_sentence(source, stop.end()) or len(word) == 1
            )
    return (
        bool(NUMBERED.search(source[max(start, stop.start() - 3) : stop.start()]))
        and stop.start() - start < 4
    )


def _starts_sentence(source: str, at: int) -> bool:
    """Whether what follows looks like a new sentence: nothing, or a capital or a digit after space."""
    if DIRECTION.match(source, at) or ZONE.match(source, at) or STREET.match(source, at):
        return False
    rest = source[at : at + 4].lstrip()
    return not rest or not (rest[0].islower() or rest[0].isdigit() or rest[0] in ",;:-")


def _abbreviations() -> dict[str, str]:
    return _TABLE


DIRECTION = re.compile(r" (?:[NSEW]|[NS][EW])\b(?! [A-Z])")
"""After "Ave." it belongs to the name, as a time zone belongs to "p.m."."""
STREET = re.compile(
    r" (?:(?:Ave|Blvd|Rd|St|Dr|Hwy|Pkwy|Sq|Pl)\b\.?|(?:Avenue|Boulevard|Street|Drive|Way|Highway|Parkway)\b)"
)
"""After "Jr." likewise."""
ZONE = re.compile(r" (?:[ECMP][SD]?T|GMT|UTC|[BI]ST|CES?T|JST|AES?T)\b")
_TABLE = {row[0].rstrip("."): row[2] for row in rows("abbreviations.tsv") if row[0].endswith(".")}
for row in rows("units.tsv"):
    if row[0].endswith("."):
        _TABLE |= dict.fromkeys(row[0].rstrip(".").split(". "), "both")
