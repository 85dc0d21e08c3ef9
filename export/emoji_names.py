"""Writes runtime/text/emoji.tsv: what emoji are called in English and Chinese (build time only).

    python -m stonechat.export.emoji_names

The names are Unicode CLDR's (Unicode License v3), as the PyPI package emoji (BSD-3-Clause) carries them. Skin tones
and joined sequences are left out: the runtime reads them as what they are joined of.
"""

from __future__ import annotations

import re
from pathlib import Path

TABLE = Path(__file__).parent.parent / "runtime" / "text" / "emoji.tsv"
HEAD = """# Emoji: character, or the two of a flag<TAB>English name<TAB>Chinese name. Written by export/emoji_names.py
# from Unicode CLDR's short names (Unicode License v3).
"""
FULLY_QUALIFIED = 2
SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")
FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


def rows() -> dict[str, tuple[str, str]]:
    """Each emoji without its variation selector, and its names."""
    import emoji

    emoji.config.load_language("zh")
    named = {}
    for written, facts in emoji.EMOJI_DATA.items():
        key = written.replace("\ufe0f", "")
        is_plain = len(key) == 1 or FLAG.fullmatch(key)
        if facts["status"] == FULLY_QUALIFIED and is_plain and not SKIN_TONES.search(key):
            named[key] = (english(facts["en"]), chinese(facts["zh"]))
    return dict(sorted(named.items()))


def english(name: str) -> str:
    """ ":O_button_(blood_type):" as it is said."""
    name = re.sub(r"_?\([^)]*\)", "", name.strip(":")).replace("&", "and").replace("’", "'")
    return " ".join(re.sub(r"[^\w' .-]", " ", name.replace("_", " ")).split())


def chinese(name: str) -> str:
    """The same in Chinese."""
    return re.sub(r"[^\w]|_", "", re.sub(r"[(（][^)）]*[)）]", "", name))


def main() -> None:
    """Command line."""
    found = rows()
    TABLE.write_text(HEAD + "".join(f"{key}\t{en}\t{zh}\n" for key, (en, zh) in found.items()), "utf-8")
    print(f"{len(found)} emoji")


if __name__ == "__main__":
    main()
