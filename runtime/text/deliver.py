"""Clauses of a document's sentence, each with how it is spoken, its marks and the break behind it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from .document import Document
from .given import Given, given_at
from .manner import UNSAID, Delivery, Manner
from .pronounce import Unit, clauses
from .symbols import Symbols
from .types import Clause, Sentence, Word

Marks = deque[tuple[int, str]]
"""Positions and names of marks that are still to come."""


def deliver(document: Document, sentence: Sentence, found: list[Unit], symbols: Symbols) -> Iterator[Clause]:
    """Clauses of one sentence; one without symbols is silence, or a place for marks."""
    end = sentence.start + len(sentence.text)
    marks = deque(document.marks_between(sentence.since, end))
    parts = list(_parts(sentence, found))
    for i, (part, cut) in enumerate(parts):
        is_last = i == len(parts) - 1
        until = end if is_last else cut.at if cut else end
        if part:
            spoken = replace(
                sentence, is_first=sentence.is_first and i == 0, pause_s=sentence.pause_s if is_last else 0.0
            )
            made = list(clauses(spoken, part, symbols, "." if is_last else ","))
            for clause in made[:-1]:
                yield _delivered(document, clause, None, marks, -1)
            yield _delivered(document, made[-1], cut, marks, until)
        elif cut and cut.gap_s:
            yield _silence(cut.gap_s, marks, until)
    if marks:
        yield _silence(0.0, marks, end)


def _parts(sentence: Sentence, found: list[Unit]) -> Iterator[tuple[list[Unit], Given | None]]:
    """The units between cuts, with the cut behind them."""
    part: list[Unit] = []
    for unit in found:
        if unit.kind == "cut":
            yield part, given_at(sentence.spoken[unit.start : unit.end], sentence.given)
            part = []
        else:
            part.append(unit)
    if part:
        yield part, None


def _delivered(document: Document, clause: Clause, cut: Given | None, marks: Marks, until: int) -> Clause:
    """The clause with what the document says of it; marks before `until` are reached at its end at the latest."""
    reached = []
    for word in clause.words:
        reached += [(name, word.first) for name in _before(marks, word.end)]
    reached += [(name, clause.words[-1].last) for name in _before(marks, until + 1)]
    gap_s = cut.gap_s if cut else None
    delivery = Delivery(tuple(_steps(document, clause.words)), gap_s, tuple(reached))
    return replace(
        clause,
        words=tuple(_in_source(document, word) for word in clause.words),
        text=document.plain(clause.words[0].start, clause.text),
        pause_s=clause.pause_s if gap_s is None else 0.0,
        delivery=None if delivery == UNSAID else delivery,
    )


def _before(marks: Marks, end: int) -> Iterator[str]:
    """Names of the marks before a position, which are taken from those to come."""
    while marks and marks[0][0] < end:
        yield marks.popleft()[1]


def _silence(gap_s: float, marks: Marks, until: int) -> Clause:
    """A clause of nothing but a break and marks."""
    reached = tuple((name, 0) for name in _before(marks, until + 1))
    return Clause((), "", (), "", "", "", delivery=Delivery(gap_s=gap_s, marks=reached))


def _steps(document: Document, words: tuple[Word, ...]) -> Iterator[tuple[int, Manner]]:
    """Where the manner changes along the symbols; within a word in proportion to its characters."""
    last: Manner | None = None
    for word in words:
        size, symbols = word.end - word.start, word.last - word.first
        inside = 1 if document.has_one_manner(word.start, word.end) else symbols
        for i in range(inside):
            manner = document.manner(word.start + i * size // symbols)
            if manner != last:
                yield (0 if last is None else word.first + i), manner
            last = manner


def _in_source(document: Document, word: Word) -> Word:
    """The word with its place in the source."""
    given = document.objects.get(word.start)
    last = word.start + 1 if given else word.end
    start, end = document.source_span(word.start, last)
    text = document.plain(word.start, document.text[word.start : last])
    return replace(word, text=text, start=start, end=end)
