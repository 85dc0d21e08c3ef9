"""Pronunciations as people write them (ARPAbet, IPA, pinyin) to the voice's symbols."""

from __future__ import annotations

import re
import unicodedata

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
PINYIN_TOKEN = re.compile(r"[a-zêüv:]+[0-5]")
ERHUA = re.compile(r"(?P<body>[a-zêüv:]*[aoeiuüv][a-zêüv:]*)r(?P<tone>[0-5])")
IPA_FORMS = (
    ("eɪ", "A"), ("aɪ", "I"), ("oʊ", "O"), ("əʊ", "O"), ("aʊ", "W"), ("ɔɪ", "Y"), ("tʃ", "ʧ"),
    ("dʒ", "ʤ"), ("ɝ", "ɜɹ"), ("ɚ", "əɹ"), ("'", "ˈ"), ("l\u0329", "əl"), ("n\u0329", "ən"), ("m\u0329", "əm"),
    ("\u0303", "n"), ("ʦ", "ts"), ("ʣ", "dz"),
)  # fmt: skip
"""Sequences before single symbols; U+0329 marks a syllabic consonant, U+0303 a nasal vowel."""
NEAREST = str.maketrans(
    {
        "r": "ɹ", "ʁ": "ɹ", "ɻ": "ɹ", "g": "ɡ", "ɣ": "ɡ", "ɟ": "ɡ", "ɫ": "l", "ɭ": "l", "ɬ": "l", "ʎ": "lj",
        "ɲ": "nj", "ɳ": "n", "ɾ": "T", "ɽ": "T", "x": "h", "χ": "h", "ħ": "h", "ɦ": "h", "c": "k", "q": "k",
        "β": "v", "ʋ": "v", "ɸ": "f", "ʈ": "t", "ɖ": "d", "ʝ": "j", "ɥ": "w", "ʍ": "w", "ɕ": "ʃ", "ʂ": "ʃ",
        "ʑ": "ʒ", "ʐ": "ʒ", "e": "ɛ", "o": "O", "a": "ɑ", "ɒ": "ɑ", "y": "u", "ɯ": "u", "ʉ": "u", "ɨ": "ɪ",
        "ʏ": "ɪ", "ø": "ɜ", "œ": "ɜ", "ɞ": "ɜ", "ɘ": "ə", "ɵ": "ə", "ɤ": "ʌ", "ʔ": "", "ʰ": "", "ʲ": "", "ʷ": "w",
        "ː": "", "ˑ": "", ".": "", "‿": "", "͡": "", "͜": "", "̯": "", "̥": "", "̬": "", "̪": "",
    }
)  # fmt: skip
"""IPA symbols that the voice has no English sound of, and the sound nearest to each."""
TONE_MARKS = frozenset("→↗↓↘")


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
    """IPA as symbols, or symbols as they are.

    Stress marks move from the syllable to its vowel, where the voice has them; sounds that English lacks
    become the nearest that it has. Text with tone marks is Mandarin in the voice's own symbols and stays.
    """
    if TONE_MARKS.intersection(text):
        return text
    text = unicodedata.normalize("NFD", text.replace("ç", "h"))
    for written, symbol in IPA_FORMS:
        text = text.replace(written, symbol)
    out, pending = "", ""
    for symbol in text.translate(NEAREST):
        if symbol in "ˈˌ":
            pending = symbol
        elif symbol in VOWELS and pending:
            out, pending = out + pending + symbol, ""
        else:
            out += symbol
    return out


def pinyin(text: str) -> list[str] | None:
    """ "na4 si1" as syllables, erhua apart; None where it is not numbered pinyin. Tone 0 is 5."""
    syllables: list[str] = []
    for written in text.split():
        token = written[0].lower() + written[1:]  # "Na4", but "ER1" is ARPAbet
        if not PINYIN_TOKEN.fullmatch(token):
            return None
        token = token.replace("u:", "v").replace("ü", "v").replace("0", "5")
        erhua = ERHUA.fullmatch(token)
        syllables += [erhua["body"] + erhua["tone"], "r5"] if erhua and erhua["body"] != "e" else [token]
    return syllables or None
