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
from .shown import is_shown
from .tables import rows

INLINE = r"\[(?P<word>[^\[\]\n]{1,100})\]\((?P<said>/[^()\n]{1,200}/)\)"
"""A word with its pronunciation."""
MARKUP = re.compile(
    INLINE + r"|</?[A-Za-z][^<>\n]{0,200}>|<!--.{0,200}?-->"  # tags
    r"|(?P<entity>&(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,20});)"
    r"|!?\[(?P<link>[^\[\]\n]{1,100})\]\((?:https?:|mailto:|/|#)[^()\s]{0,200}\)"  # links: their text stays
    r"|!\[(?P<image>[^\[\]\n]{0,100})\]\([^()\s]{0,200}\)"
    r"|\*\*|__|~~|`+|(?m:^[ \t]*(?:#{1,6}|>|[-*+•])[ \t]+)|(?<!\d)\*(?=\w)(?!号?键)|(?<=\w)\*(?!\w)"
)
SHOWN_MARKUP = re.compile(INLINE + "(?P<link>)(?P<image>)(?P<entity>)")
"""What counts as markup where markup is read."""
BLOCK = re.compile(
    r"</?(?:br|p|div|li|ul|ol|h[1-6]|tr|td|th|table|section|article|blockquote|hr)\b", re.IGNORECASE
)
"""Tags that end a line."""
ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#39;": "'", "&nbsp;": " "}
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


@lru_cache(maxsize=4096)
def _shown(char: str) -> str | None:
    """The same where silent signs are read: those that have a name stay."""
    plain = _plain(char)
    return char if plain is not None and not plain.strip() and is_shown(char) else plain


def clean(
    source: str,
    start: int,
    end: int,
    say: Callable[[str, str], str] | None = None,
    read_symbols: bool = False,
) -> Cleaned:
    """Plain text of source[start:end].

    `say` gives what stands for a word with its pronunciation; `read_symbols` keeps emoji and markup.
    """
    markup, plain = (SHOWN_MARKUP, _shown) if read_symbols else (MARKUP, _plain)
    out: list[str] = []
    offsets: list[int] = []
    unknown: list[str] = []
    at = start
    for match in markup.finditer(source, start, end):
        _clean_run(source, at, match.start(), out, offsets, unknown, plain)
        if match.group("said"):
            standing = say(match.group("word"), match.group("said")) if say else match.group("word")
            out.extend(standing)
            offsets.extend([match.start("word")] * len(standing))
        elif name := "link" if match.group("link") else "image" if match.group("image") else "":
            _clean_run(source, match.start(name), match.end(name), out, offsets, unknown, plain)
        else:
            standing = _stands_for(match)
            out.extend(standing)
            offsets.extend([match.start()] * len(standing))
        at = match.end()
    _clean_run(source, at, end, out, offsets, unknown, plain)
    return Cleaned("".join(out), (*offsets, end), "".join(unknown))


def _entity(written: str) -> str:
    if written in ENTITIES:
        return ENTITIES[written]
    from html import unescape  # the table of all of them is large

    return unescape(written)


def _stands_for(match: re.Match[str]) -> str:
    """What an entity means, or the pause that a tag between blocks makes."""
    if match.group("entity"):
        return "".join(_plain(char) or "" for char in _entity(match.group("entity")))
    return ", " if BLOCK.match(match.group()) else ""


def _clean_run(
    source: str,
    start: int,
    end: int,
    out: list[str],
    offsets: list[int],
    unknown: list[str],
    plain_form: Callable[[str], str | None],
) -> None:
    if source.isascii() and "\r" not in source[start:end] and source[start:end].isprintable():
        out.extend(source[start:end])
        offsets.extend(range(start, end))
        return
    text = unicodedata.normalize("NFC", source[start:end])
    text = source[start:end] if len(text) != end - start else text
    previous = ""
    for i, char in enumerate(text):
        plain = plain_form(previous if char == "々" and previous else char)
        previous = char
        if plain is None:
            unknown.append(char)
            plain = " "
        out.extend(plain)
        offsets.extend([start + i] * len(plain))
