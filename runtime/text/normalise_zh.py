"""Chinese normalisation: which rules may read what begins at a token."""

from __future__ import annotations

import re

from .rules import Found, first_that_fits
from .rules_zh import DIGIT_RULES, LETTER_RULES, SYMBOL_RULES

TOKEN = re.compile(r"[A-Za-zÀ-ɏ]+|\d|[^\w\s]|[_²³¹½¼¾⅓⅔⅛Α-ω]", re.UNICODE)
QUIET = frozenset(",.!?;:\"'()，。！？；：（）…— ")
BEGINS_NUMBER = re.compile(r"[—'(（]\d|—周|!=")


def read(token: re.Match[str], text: str, last: int) -> Found | None:
    """(end, reading, rule) of what begins at the token, None where it stays as it is."""
    word, at = token.group(), token.start()
    if word[0].isdigit() and word not in "²³¹":
        return first_that_fits(DIGIT_RULES, text, at, last)
    if word.isalpha() and not "Α" <= word <= "ω":
        return first_that_fits(LETTER_RULES, text, at, last)
    if word in QUIET and not BEGINS_NUMBER.match(text, at):
        return None
    return first_that_fits(SYMBOL_RULES, text, at, last)
