"""Source sentence to spoken text, in Chinese or English by its language, span by span in mixed text."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import normalise_en, normalise_zh
from .clean import Cleaned
from .readings_en import spell
from .rules import Writer
from .scripts import HAN, HAN_CLASS
from .types import Piece

ENGLISH_SPAN = re.compile(rf"[A-Za-z][^{HAN_CLASS}，。！？；：]*[A-Za-z](?:[.!?]+(?=\s|$))?")


def normalise(source: Cleaned, is_acronym: Callable[[str], bool]) -> tuple[Piece, ...]:
    """The pieces of spoken text. `is_acronym` tells which capitals are spelled."""
    writer = Writer(source)
    text = source.text
    if HAN.search(text) or (not re.search("[A-Za-z]", text) and re.search("[，。！？；：¥]", text)):
        _chinese(source, writer, is_acronym)
    else:
        normalise_en.normalise(source, 0, len(text), writer, is_acronym)
    return tuple(writer.pieces)


def _chinese(source: Cleaned, writer: Writer, is_acronym: Callable[[str], bool]) -> None:
    """Chinese rules, but English ones inside runs of two English words or more."""
    text = source.text
    at = literal = 0
    while True:
        token = normalise_zh.TOKEN.search(text, at)
        if token is None:
            break
        span = ENGLISH_SPAN.match(text, token.start()) if token.group()[0].isalpha() else None
        if (
            span
            and len(re.findall("[A-Za-z]{2,}", span.group())) > 1
            and re.search(r"[A-Za-z'] +[\w$£€]", span.group())
        ):
            writer.literal(literal, token.start())
            normalise_en.normalise(source, span.start(), span.end(), writer, is_acronym)
            at = literal = span.end()
            continue
        found = normalise_zh.read(token, text, len(text))
        word = token.group()
        if found is None and len(word) > 1 and word.isupper() and word.isascii() and is_acronym(word):
            found = token.end(), spell(word), "acronym"
        if found is None:
            at = token.end()
            continue
        writer.literal(literal, token.start())
        writer.reading(token.start(), *found)
        at = literal = found[0]
    writer.literal(literal, len(text))
