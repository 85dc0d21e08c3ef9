"""What emoji and markup are called, for listeners who want them read instead of left out."""

from __future__ import annotations

import unicodedata
from functools import cache

from .tables import rows

LONGEST = 2
"""Characters of a key: a flag has two."""
ENGLISH, CHINESE = 0, 1
SILENT = frozenset(",.!?;:，。！？；：…)）")
"""Signs that pause by themselves."""


@cache
def _names() -> dict[str, tuple[str, str]]:
    return {row[0]: (row[1], row[2]) for name in ("emoji.tsv", "signs.tsv") for row in rows(name)}


def is_shown(char: str) -> bool:
    """Whether a character that says nothing by itself has a name."""
    return unicodedata.category(char) == "So" or char in _names()


def name(text: str, at: int, end: int, lang: int) -> tuple[int, str, str] | None:
    """(end, reading, rule) of the sign at text[at]; the same one repeated is read once. None where it has no name."""
    names = _names()
    for size in range(LONGEST, 0, -1):
        key = text[at : min(at + size, end)]
        if key in names:
            said = names[key][lang]
            break
    else:
        if unicodedata.category(text[at]) != "So":
            return None
        said = "符号" if lang == CHINESE else unicodedata.name(key, "symbol").lower()
    after = at
    while text.startswith(key, after, end):
        after += len(key)
    comma = "，" if lang == CHINESE else ", "
    lead = comma if text[:at].rstrip()[-1:].isalnum() else " " * (lang == ENGLISH)
    following = text[after:end].lstrip()[:1]
    return after, lead + said + (comma if following and following not in SILENT else ""), "symbol"
