"""Pronunciations as people write them (ARPAbet, IPA, pinyin) to the voice's symbols."""

from __future__ import annotations

import re

from .symbols import VOWELS

ARPABET = dict(
    pair.split(":")
    for pair in [
        "AA:ɑ",
        "AE:æ",
        "AH:ʌ",
        "AO:ɔ",
        "AW:W",
        "AY:I",
        "B:b",
        "CH:ʧ",
        "D:d",
        "DH:ð",
        "EH:ɛ",
        "ER:ɜɹ",
        "EY:A",
        "F:f",
        "G:ɡ",
        "HH:h",
        "IH:ɪ",
        "IY:i",
        "JH:ʤ",
        "K:k",
        "L:l",
        "M:m",
        "N:n",
        "NG:ŋ",
        "OW:O",
        "OY:Y",
        "P:p",
        "R:ɹ",
        "S:s",
        "SH:ʃ",
        "T:t",
        "TH:θ",
        "UH:ʊ",
        "UW:u",
        "V:v",
        "W:w",
        "Y:j",
        "Z:z",
        "ZH:ʒ",
        "AX:ə",
    ]
)
REDUCED = {"AH": "ə", "ER": "əɹ"}
STRESS = {"1": "ˈ", "2": "ˌ", "0": "", "": ""}
ARPA_TOKEN = re.compile(r"([A-Z]{1,2})([012]?)")
PINYIN_TOKEN = re.compile(r"[a-zêüv:]+[1-5]")
IPA_FORMS = (
    ("eɪ", "A"), ("aɪ", "I"), ("oʊ", "O"), ("əʊ", "O"), ("aʊ", "W"), ("ɔɪ", "Y"), ("tʃ", "ʧ"), ("dʒ", "ʤ"),
    ("ɝ", "ɜɹ"), ("ɚ", "əɹ"), ("r", "ɹ"), ("g", "ɡ"), ("ː", ""), (".", ""), ("͡", ""), ("ɫ", "l"),
    ("'", "ˈ"), ("ɾ", "T"),
)  # fmt: skip


def arpabet(text: str) -> str | None:
    """ "HH AH0 L OW1" as symbols; None where it is not ARPAbet."""
    out = ""
    for token in text.split():
        match = ARPA_TOKEN.fullmatch(token)
        if match is None or match[1] not in ARPABET:
            return None
        name, stress = match.groups()
        sound = REDUCED[name] if stress == "0" and name in REDUCED else ARPABET[name]
        out += STRESS[stress] + sound
    return out or None


def ipa(text: str) -> str:
    """IPA as symbols; stress marks move from the syllable to its vowel, where the voice has them."""
    for written, symbol in IPA_FORMS:
        text = text.replace(written, symbol)
    out, pending = "", ""
    for symbol in text:
        if symbol in "ˈˌ":
            pending = symbol
        elif symbol in VOWELS and pending:
            out, pending = out + pending + symbol, ""
        else:
            out += symbol
    return out


def pinyin(text: str) -> list[str] | None:
    """ "na4 si1" as syllables; None where it is not numbered pinyin."""
    syllables = text.split()
    if not syllables or not all(PINYIN_TOKEN.fullmatch(s) for s in syllables):
        return None
    return [s.replace("u:", "v").replace("ü", "v") for s in syllables]
