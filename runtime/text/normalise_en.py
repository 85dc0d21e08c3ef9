"""English normalisation: one pass over a span, each token to the first rule that fits."""

from __future__ import annotations

import re
from collections.abc import Callable

from .clean import Cleaned
from .readings_en import ABBREVIATIONS, spell
from .rules import Writer, first_that_fits
from .rules_en import DIGIT_RULES, LETTER_RULES, SYMBOL_RULES

TOKEN = re.compile(r"[A-Za-zÀ-ɏ]+|\d|[^\w\s]", re.UNICODE)
QUIET = frozenset(",.!?;:\"'()，。！？；：（）…— ")


def normalise(
    source: Cleaned, first: int, last: int, writer: Writer, is_acronym: Callable[[str], bool]
) -> None:
    """Writes source.text[first:last] into `writer` as it is said in English."""
    text = source.text
    at = literal = first
    while True:
        token = TOKEN.search(text, at, last)
        if token is None:
            break
        found = _read(token, text, last, is_acronym)
        if found is None:
            at = token.end()
            continue
        writer.literal(literal, token.start())
        writer.reading(token.start(), found[0], found[1], found[2])
        at = literal = found[0]
    writer.literal(literal, last)


def _read(
    token: re.Match[str], text: str, last: int, is_acronym: Callable[[str], bool]
) -> tuple[int, str, str] | None:
    word = token.group()
    at = token.start()
    if word[0].isdigit():
        return first_that_fits(DIGIT_RULES, text, at, last)
    if not word[0].isalpha():
        if word in QUIET and not (text[at + 1 : at + 2].isdigit() and word in "'."):
            return None
        return first_that_fits(SYMBOL_RULES, text, at, last)
    after = text[token.end() : token.end() + 1]
    if not (word.islower() and after not in ".@:/-_+0123456789 ") or word in ABBREVIATIONS or after.isdigit():
        found = first_that_fits(LETTER_RULES, text, at, last)
        if found:
            return found
        if len(word) > 1 and word.isupper() and word.isascii() and is_acronym(word):
            return token.end(), spell(word), "acronym"
    return None
