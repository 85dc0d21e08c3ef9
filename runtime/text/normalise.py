"""Source sentence to spoken text, in Chinese or English by its language, span by span in mixed text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from . import normalise_en, normalise_zh
from .clean import Cleaned
from .given import Given
from .readings_en import spell
from .rules import Writer
from .scripts import HAN, HAN_CLASS
from .shown import CHINESE
from .types import Piece

ENGLISH_SPAN = re.compile(rf"[A-Za-z][^{HAN_CLASS}，。！？；：]*[A-Za-z](?:[.!?]+(?=\s|$))?")


def normalise(
    source: Cleaned,
    is_acronym: Callable[[str], bool],
    read_symbols: bool = False,
    given: tuple[Given, ...] = (),
    languages: Sequence[tuple[int, int, str]] = (),
) -> tuple[Piece, ...]:
    """The pieces of spoken text. `is_acronym` tells which capitals are spelled; silent signs may be read.

    `given` holds words whose reading is known; `languages` the runs (first, last, "zh" or "en") whose language is
    asked for, "" for the text's own.
    """
    writer = Writer(source, read_symbols, given)
    text = source.text
    is_chinese = HAN.search(text) or (not re.search("[A-Za-z]", text) and re.search("[，。！？；：¥]", text))
    for first, last, lang in languages or ((0, len(text), ""),):
        if lang == "zh" or (is_chinese and not lang):
            _chinese(source, first, last, writer, is_acronym)
        else:
            normalise_en.normalise(source, first, last, writer, is_acronym)
    return tuple(writer.pieces)


def _chinese(
    source: Cleaned, first: int, last: int, writer: Writer, is_acronym: Callable[[str], bool]
) -> None:
    """Chinese rules, but English ones inside runs of two English words or more."""
    text = source.text
    at = literal = first
    while True:
        token = normalise_zh.TOKEN.search(text, at, last)
        if token is None:
            break
        span = ENGLISH_SPAN.match(text, token.start(), last) if token.group()[0].isalpha() else None
        if (
            span
            and len(re.findall("[A-Za-z]{2,}", span.group())) > 1
            and re.search(r"[A-Za-z'] +[\w$£€]", span.group())
        ):
            writer.literal(literal, token.start())
            normalise_en.normalise(source, span.start(), span.end(), writer, is_acronym)
            at = literal = span.end()
            continue
        found = normalise_zh.read(token, text, last)
        word = token.group()
        if found is None and len(word) > 1 and word.isupper() and word.isascii() and is_acronym(word):
            found = token.end(), spell(word), "acronym"
        found = writer.named(token.start(), last, found, CHINESE)
        if found is None:
            at = token.end()
            continue
        writer.literal(literal, token.start())
        writer.reading(token.start(), *found)
        at = literal = found[0]
    writer.literal(literal, last)
