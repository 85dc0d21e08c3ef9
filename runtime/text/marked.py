"""A document's sentence on its way through normalisation: marks for its objects, runs of its languages."""

from __future__ import annotations

from collections.abc import Callable

from .clean import Cleaned, clean
from .document import OBJECT, Document
from .given import Given, mark
from .scripts import HAN, LATIN


def clean_marked(
    document: Document,
    start: int,
    end: int,
    given: list[Given],
    say: Callable[[str, str], str],
    read_symbols: bool,
) -> Cleaned:
    """Plain text of document.text[start:end], a mark for each object; `given` grows by what they stand for."""
    text, unknown = "", ""
    offsets: list[int] = []
    at = start
    while at <= end:
        found = document.text.find(OBJECT, at, end)
        part = clean(document.text, at, end if found < 0 else found, say, read_symbols)
        text, unknown = text + part.text, unknown + part.unknown
        offsets += part.offsets[:-1]
        if found < 0:
            break
        word = document.objects[found]
        given.append(word)
        standing = f" {mark(len(given) - 1)} " if word.is_cut else mark(len(given) - 1)
        text += standing
        offsets += [found] * len(standing)
        at = found + 1
    return Cleaned(text, (*offsets, end), unknown)


def languages(document: Document, cleaned: Cleaned) -> list[tuple[int, int, str]]:
    """Runs of the cleaned text with the language asked for; without letters, that of the document."""
    text = cleaned.text
    own = "" if HAN.search(text) or LATIN.search(text) else document.lang
    return [(first, last, lang or own) for first, last, lang in document.language_runs(cleaned.offsets)]
