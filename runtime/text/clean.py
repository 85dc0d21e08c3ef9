"""Source text to plain text: compatibility forms, quotes, emoji, markup, control characters.

Every kept character remembers its place in the source.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from .scripts import HAN
from .tables import rows

MARKUP = re.compile(
    r"\[(?P<word>[^\[\]\n]{1,100})\]\((?P<said>/[^()\n]{1,200}/)\)"  # a word with its pronunciation
    r"|</?[A-Za-z][^<>\n]{0,200}>|<!--.{0,200}?-->"  # tags
    r"|!?\[(?P<link>[^\[\]\n]{1,100})\]\((?:https?:|mailto:|/|#)[^()\s]{0,200}\)"  # links: their text stays
    r"|\*\*|__|~~|`+|(?m:^[ \t]*(?:#{1,6}|>|[-*+•])[ \t]+)|\*(?=\w)(?!号?键)|(?<=\w)\*(?!\w)"
)
SUPERSCRIPTS = frozenset("²³¹⁰⁴⁵⁶⁷⁸⁹½¼¾⅓⅔⅛…™")
STRONG = frozenset("，。！？；：（）")
"""Full-width punctuation that stays, because it ends Chinese phrases whatever stands around it."""


@dataclass(frozen=True)
class Cleaned:
    """Plain text; offsets[i] is the source index of text[i], with the source's end at offsets[len(text)]."""

    text: str
    offsets: tuple[int, ...]
    unknown: str
    """Characters of scripts that no reading exists for, left out of the text."""


@lru_cache(maxsize=1)
def _replacements() -> dict[str, str]:
    return dict(rows("characters.tsv"))  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def _plain(char: str) -> str | None:
    """What a character becomes ("" to drop it), None when its script is unknown."""
    table = _replacements()
    if char in table:
        return table[char].replace("<space>", " ").replace("<none>", "")
    if char.isascii():
        return char if char.isprintable() or char == "\n" else " " if char.isspace() else ""
    if char in SUPERSCRIPTS or char in STRONG or HAN.match(char):
        return char
    category = unicodedata.category(char)
    if category[0] == "Z":
        return "\n" if category in ("Zl", "Zp") else " "
    if category in ("Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me", "Mc", "Lm", "Sk"):
        return " " if category == "Cc" and char.isspace() else ""
    plain = unicodedata.normalize("NFKC", char)
    if plain != char and all(c.isascii() or HAN.match(c) or c in STRONG or c in "°" for c in plain):
        return plain
    if "À" <= char <= "ɏ" and category[0] == "L":
        return char
    if category[0] == "S" or category[0] == "P":
        return char if char in "°£€¥₹₩±×÷¢§©®№≥≤≠≈→" else " " if category[0] == "P" else ""
    return None


def clean(source: str, start: int, end: int, say: Callable[[str, str], str] | None = None) -> Cleaned:
    """Plain text of source[start:end]; `say` gives what stands for a word with its pronunciation."""
    out: list[str] = []
    offsets: list[int] = []
    unknown: list[str] = []
    at = start
    for match in MARKUP.finditer(source, start, end):
        _clean_run(source, at, match.start(), out, offsets, unknown)
        if match.group("said"):
            standing = say(match.group("word"), match.group("said")) if say else match.group("word")
            out.extend(standing)
            offsets.extend([match.start("word")] * len(standing))
        elif match.group("link"):
            _clean_run(source, match.start("link"), match.end("link"), out, offsets, unknown)
        at = match.end()
    _clean_run(source, at, end, out, offsets, unknown)
    return Cleaned("".join(out), (*offsets, end), "".join(unknown))


def _clean_run(
    source: str, start: int, end: int, out: list[str], offsets: list[int], unknown: list[str]
) -> None:
    if source.isascii() and "\r" not in source[start:end] and source[start:end].isprintable():
        out.extend(source[start:end])
        offsets.extend(range(start, end))
        return
    text = unicodedata.normalize("NFC", source[start:end])
    text = source[start:end] if len(text) != end - start else text
    previous = ""
    for i, char in enumerate(text):
        plain = _plain(previous if char == "々" and previous else char)
        previous = char
        if plain is None:
            unknown.append(char)
            plain = " "
        out.extend(plain)
        offsets.extend([start + i] * len(plain))
