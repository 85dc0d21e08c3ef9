"""English normalisation: one pass over a span, each token to the first rule that fits."""

from __future__ import annotations

import re
from collections.abc import Callable

from .clean import Cleaned
from .names_en import ABBREVIATIONS, acronym
from .rules import Found, Writer, first_that_fits
from .rules_en import DIGIT_RULES, SYMBOL_RULES
from .rules_en_words import LETTER_RULES
from .shown import ENGLISH

TOKEN = re.compile(r"[A-Za-zÀ-ɏ]+|\d|[^\w\s]|[_²³¹½¼¾⅓⅔⅛Α-ω]", re.UNICODE)
QUIET = frozenset(",.!?;:\"'()，。！？；：（）…— ")
JOINING = frozenset(".@:/-–_+#&~")
"""Signs that make something else of the small letters before them."""


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
        found = writer.named(token.start(), last, found, ENGLISH)
        if found is None:
            at = token.end()
            continue
        writer.literal(literal, token.start())
        writer.reading(token.start(), found[0], found[1], found[2])
        at = literal = found[0]
    writer.literal(literal, last)


def _read(token: re.Match[str], text: str, last: int, is_acronym: Callable[[str], bool]) -> Found | None:
    word = token.group()
    at = token.start()
    if word[0].isdigit() and word not in "²³¹":
        return first_that_fits(DIGIT_RULES, text, at, last)
    if not word.isalpha() or "Α" <= word <= "ω":
        if word in QUIET and not _begins_number(text, at):
            return None
        return first_that_fits(SYMBOL_RULES, text, at, last)
    if not word.islower() or word in ABBREVIATIONS or _is_joined(text, token.end()):
        found = first_that_fits(LETTER_RULES, text, at, last)
        if found:
            return found
        if len(word) > 1 and word.isupper() and word.isascii():
            said = acronym(word, text, is_acronym)
            return (token.end(), said, "acronym") if said else None
    return None


def _begins_number(text: str, at: int) -> bool:
    """Whether the quiet sign at `at` belongs to the number after it, or to "!="."""
    after = text[at + 1 : at + 2]
    return (after.isdigit() and text[at] in "'.(—") or (after == "=" and text[at] == "!")


def _is_joined(text: str, end: int) -> bool:
    """Whether small letters that end at `end` may be part of something else than a word."""
    after, next_one = text[end : end + 1], text[end + 1 : end + 2]
    return (
        after in JOINING or after.isdigit() or (after == " " and (next_one.isdigit() or next_one.isupper()))
    )
