"""Pronunciations in SSML's `phoneme` element, by alphabet."""

from __future__ import annotations

import re

from ..errors import TextError
from .notation import arpabet, pinyin
from .userdict import Pronouncer

ALPHABETS = ("ipa", "pinyin", "x-arpabet")
OTHER_NAMES = {
    "x-pinyin": "pinyin",
    "x-amazon-pinyin": "pinyin",
    "arpabet": "x-arpabet",
    "x-cmu-arpabet": "x-arpabet",
}


def symbols(pronouncer: Pronouncer, alphabet: str, said: str) -> str:
    """The voice's symbols; TextError names what is wrong."""
    kind, said = OTHER_NAMES.get(alphabet.lower(), alphabet.lower()), " ".join(said.split())
    if kind == "ipa":
        return pronouncer.symbols(f"/{said.strip('/')}/")
    if kind == "pinyin":
        said = re.sub(r"(?<=[0-5])(?=[A-Za-zü])", " ", said)
        if pinyin(said) is None:
            raise TextError(f'{said!r} is no pinyin with tone numbers: write "zhong1 guo2"')
    elif kind == "x-arpabet":
        said = said.upper()
        if arpabet(said) is None:
            raise TextError(f'{said!r} is no ARPAbet: write "HH AH0 L OW1"')
    else:
        raise TextError(f"no alphabet {alphabet!r}: use one of {', '.join(ALPHABETS)}")
    return pronouncer.symbols(said)
