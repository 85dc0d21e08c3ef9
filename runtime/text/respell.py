"""Plain respellings of a word ("NOO-yen", "kee-noh-ah", "nash vil") to the voice's symbols.

A part that is an English word is read as that word, any other by the sounds that respellings customarily use.
Capitals mark the stressed part; without any, the first part is stressed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .stress import plain, promote

CONSONANTS = {
    "ch": "ʧ", "sh": "ʃ", "th": "θ", "dh": "ð", "zh": "ʒ", "ng": "ŋ", "ck": "k", "kh": "k", "ph": "f", "wh": "w",
    "qu": "kw", "b": "b", "c": "k", "d": "d", "f": "f", "g": "ɡ", "h": "h", "j": "ʤ", "k": "k", "l": "l", "m": "m",
    "n": "n", "p": "p", "r": "ɹ", "s": "s", "t": "t", "v": "v", "w": "w", "x": "ks", "y": "j", "z": "z",
}  # fmt: skip
VOWELS = {
    "eer": "ɪɹ", "ear": "ɪɹ", "air": "ɛɹ", "oor": "ʊɹ", "ire": "Iəɹ", "eye": "I", "igh": "I",
    "ee": "i", "ea": "i", "oo": "u", "ew": "u", "oh": "O", "oa": "O", "oe": "O", "ay": "A", "ai": "A", "ey": "A",
    "ie": "I", "eh": "ɛ", "ih": "ɪ", "ah": "ɑ", "aa": "ɑ", "uh": "ʌ", "aw": "ɔ", "au": "ɔ", "ow": "W", "ou": "W",
    "oy": "Y", "oi": "Y", "ar": "ɑɹ", "er": "ɜɹ", "ur": "ɜɹ", "ir": "ɜɹ", "or": "ɔɹ",
    "a": "æ", "e": "ɛ", "i": "ɪ", "o": "ɑ", "u": "ʌ", "y": "I",
}  # fmt: skip
OPEN = {"a": "ɑ", "e": "i", "i": "i", "o": "O", "u": "u", "y": "i"}
"""A single vowel that ends its part."""
WEAK = {"ʌ": "ə", "ɜɹ": "əɹ"}
CONSONANT = "|".join(CONSONANTS)
SYLLABLE = re.compile(
    rf"(?P<onset>(?:{CONSONANT})*?)(?P<vowel>{'|'.join(VOWELS)})(?P<coda>(?:(?:{CONSONANT})(?!e$))*)"
)
WRITTEN = re.compile(r"[A-Za-z]+(?:['\-][A-Za-z]+)*(?: +[A-Za-z]+(?:['\-][A-Za-z]+)*)*")


def respelled(text: str, is_word: Callable[[str], bool], read: Callable[[str], str]) -> str:
    """Symbols of a respelling, "" where it is none.

    `is_word` tells English words, `read` gives the symbols of any letters.
    """
    if not WRITTEN.fullmatch(text):
        return ""
    return " ".join(_word(word, is_word, read) for word in text.split())


def _word(word: str, is_word: Callable[[str], bool], read: Callable[[str], str]) -> str:
    parts = word.split("-")
    capitals = [i for i, part in enumerate(parts) if len(part) > 1 and part.isupper()]
    stressed = capitals[0] if capitals and len(capitals) < len(parts) else 0
    out = ""
    for i, part in enumerate(part.lower() for part in parts):
        sound = plain("" if is_word(part) and len(part) > 2 else _part(part, i == stressed)) or plain(
            read(part)
        )
        out += promote(sound) if i == stressed else sound
    return out


def _part(part: str, stressed: bool) -> str:
    """One syllable by the customs of respelling, "" when it is more or less than one."""
    match = SYLLABLE.fullmatch(part)
    if match is None:
        return ""
    written, coda = match["vowel"], match["coda"]
    vowel = OPEN.get(written, "") if not coda else ""
    vowel = vowel or VOWELS[written]
    return _consonants(match["onset"]) + (vowel if stressed else WEAK.get(vowel, vowel)) + _consonants(coda)


def _consonants(written: str) -> str:
    return "".join(CONSONANTS[found] for found in re.findall(CONSONANT, written))
