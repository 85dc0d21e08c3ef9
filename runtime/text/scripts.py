"""Which script a character belongs to."""

from __future__ import annotations

import re

HAN_CLASS = "\u3400-\u4dbf\u4e00-\u9fff〇\U00020000-\U000323af"
HAN = re.compile(f"[{HAN_CLASS}]")
HAN_RUN = re.compile(f"[{HAN_CLASS}]+")
LATIN = re.compile("[A-Za-zÀ-ɏ]")


def language(text: str) -> str:
    """ "zh", "en" or "mix" by the letters in the text; without letters "zh" only by its punctuation."""
    if not text.isascii() and HAN.search(text):
        return "mix" if LATIN.search(text) else "zh"
    return "zh" if not LATIN.search(text) and re.search("[。，！？；：￥¥]", text) else "en"
