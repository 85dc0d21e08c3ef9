"""What `say-as` asks for, in words: each kind in English and in Chinese, for the frontend to choose by context.

Kinds and formats: W3C note "SSML 1.0 say-as attribute values" (http://www.w3.org/TR/ssml-sayas/), and those that
cloud services share.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from . import numbers_en, numbers_zh, shown
from .scripts import HAN
from .ssml_dates import Said, date, duration, time
from .tables import rows

NUMBER = re.compile(r"[-+]?\d[\d,]{0,30}(?:\.\d{1,30})?")
ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
SIGNS_ZH = {
    ".": "点", "/": "斜杠", "@": "艾特", "-": "杠", "_": "下划线", ":": "冒号", "?": "问号", "=": "等号", "&": "和",
    "#": "井号", "%": "百分号", "+": "加号", "~": "波浪号", "*": "星号", ",": "逗号", "!": "感叹号", "$": "美元符号",
    "(": "左括号", ")": "右括号",
}  # fmt: skip
SIGNS_EN = {
    ".": "dot", "/": "slash", "@": "at", "-": "dash", "_": "underscore", ":": "colon", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "%": "percent", "+": "plus", "~": "tilde",
    "*": "star", ",": "comma", "!": "exclamation point", "$": "dollar sign", "(": "open parenthesis",
    ")": "close parenthesis", "'": "apostrophe", '"': "quote",
}  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """A `say-as` element: its content and its attributes."""

    text: str
    format: str = ""
    detail: str = ""


def said(kind: str, wanted: Wanted, plainly: Callable[[str], Said]) -> Said | None:
    """The words for a kind of content; None for a kind that is not known.

    `plainly` reads text as the frontend reads it without being asked; so is content that is not of its kind.
    """
    if kind not in KINDS:
        return None
    reader = KINDS[kind]
    return (reader(wanted) if reader else None) or plainly(wanted.text)


def characters(wanted: Wanted) -> Said | None:
    """Character by character; letters in a row make one group, the last of them stressed."""
    english: list[str] = []
    chinese: list[str] = []
    plain = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", wanted.text))
    for part in re.findall(r"[A-Za-z]+|\d+|\S", plain):
        both = _character(part)
        english.append(both[0])
        chinese.append(both[1])
    return _both(" ".join(filter(None, english)), " ".join(filter(None, chinese)))


def _character(part: str) -> Said:
    """Letters, digits or one other character."""
    if part.isascii() and part.isalpha():
        return (_letters(part),) * 2
    if part.isdecimal():
        return numbers_en.digits(part), numbers_zh.digits(part)
    if HAN.match(part):
        return part, part
    return SIGNS_EN.get(part) or _name(part, shown.ENGLISH), SIGNS_ZH.get(part) or _name(part, shown.CHINESE)


def _name(sign: str, lang: int) -> str:
    found = shown.name(sign, 0, 1, lang)
    return found[1].strip() if found else ""


def _letters(text: str) -> str:
    """Letters apart; a lone one is written so that it is no article or pronoun."""
    return " ".join(text.upper()) if len(text) > 1 else LONE.get(text.upper(), text.upper())


LONE = {"A": "eh", "I": "eye"}


def digits(wanted: Wanted) -> Said | None:
    """Digit by digit, and any other character by its name; a point is one."""
    found = characters(wanted)
    return (found[0].replace(" dot ", " point "), found[1]) if found else None


def cardinal(wanted: Wanted) -> Said | None:
    """A number, also in Roman letters."""
    text = wanted.text.replace(" ", "")
    if NUMBER.fullmatch(text):
        return _number(text)
    value = _roman(text)
    return (numbers_en.cardinal(value), numbers_zh.cardinal(value)) if value else None


def ordinal(wanted: Wanted) -> Said | None:
    """A rank: "3", "3rd", "III"."""
    text = wanted.text.replace(",", "").replace(" ", "")
    match = re.fullmatch(r"第?(\d{1,18})(?:st|nd|rd|th)?", text, re.IGNORECASE | re.ASCII)
    value = int(match[1]) if match else _roman(text.rstrip("."))
    return (numbers_en.ordinal(value), "第" + numbers_zh.cardinal(value)) if match or value else None


def telephone(wanted: Wanted) -> Said | None:
    """Digit by digit, a pause between groups."""
    groups = re.findall(r"\d+|[A-Za-z]+", wanted.text)
    if not any(group.isdecimal() for group in groups):
        return None
    plus = ("plus ", "加") if wanted.text.lstrip().startswith("+") else ("", "")
    english = [numbers_en.digits(g) if g.isdecimal() else g for g in groups]
    chinese = [numbers_zh.digits(g, "幺") if g.isdecimal() else g for g in groups]
    return plus[0] + ", ".join(english), plus[1] + "，".join(chinese)


def fraction(wanted: Wanted) -> Said | None:
    """The like of "3/4", "2 1/2", "2+1/2"."""
    match = re.fullmatch(
        r"\s*(-?)(?:(\d{1,15})(?:\s+|\s*\+\s*))?(\d{1,15})\s*[/⁄]\s*(\d{1,15})\s*", wanted.text, re.ASCII
    )
    if match is None or not int(match[4]):
        return None
    sign, whole, top, bottom = match[1], match[2], int(match[3]), int(match[4])
    english = f"{numbers_en.cardinal(top)} {numbers_en.plural_ordinal(bottom, top != 1)}"
    if bottom == 1:
        english = f"{numbers_en.cardinal(top)} over one"
    chinese = f"{numbers_zh.cardinal(bottom)}分之{numbers_zh.cardinal(top)}"
    if whole:
        english = f"{numbers_en.cardinal(int(whole))} and {english}"
        chinese = f"{numbers_zh.cardinal(int(whole))}又{chinese}"
    return ("minus " if sign else "") + english, ("负" if sign else "") + chinese


def unit(wanted: Wanted) -> Said | None:
    """An amount with a unit that is written out ("10 foot"); signs of units are read as ever."""
    match = re.fullmatch(rf"\s*({NUMBER.pattern})\s*-?\s*([A-Za-z]+)\s*", wanted.text)
    if match is None or (names := _units().get(match[2].lower())) is None:
        return None
    one, many, chinese = names
    english, amount = _number(match[1])
    place = chinese if "N" in chinese else "N" + chinese
    return f"{english} {one if match[1] == '1' else many}", place.replace("N", amount)


@cache
def _units() -> dict[str, tuple[str, str, str]]:
    """Names of units, one or many, to (one, many, Chinese)."""
    return {name: (row[1], row[2], row[3]) for row in rows("units.tsv") for name in (row[1], row[2])}


def expletive(_: Wanted) -> Said | None:
    """A word that is not to be heard."""
    return "bleep", "哔"


def _number(text: str) -> Said:
    """A number as NUMBER matches it."""
    signs = {"-": ("minus ", "负"), "+": ("plus ", "正")}.get(text[0], ("", ""))
    bare = text.lstrip("+-")
    return signs[0] + numbers_en.decimal(bare), signs[1] + numbers_zh.decimal(bare)


def _roman(text: str) -> int:
    return numbers_en.roman(text) if text and len(text) < 20 and ROMAN.fullmatch(text) else 0


def _both(english: str, chinese: str) -> Said | None:
    return (english, chinese) if english and chinese else None


KINDS: dict[str, Callable[[Wanted], Said | None] | None] = {
    "characters": characters, "spell-out": characters, "verbatim": characters, "spell": characters,
    "cardinal": cardinal, "number": cardinal, "ordinal": ordinal,
    "digits": digits, "number_digit": digits, "date": lambda wanted: date(wanted.text, wanted.format),
    "time": lambda wanted: time(wanted.text), "duration": lambda wanted: duration(wanted.text),
    "telephone": telephone, "phone": telephone, "fraction": fraction, "unit": unit,
    "currency": None, "money": None, "address": None, "name": None, "net": None, "text": None,
    "expletive": expletive, "bleep": expletive,
}  # fmt: skip
"""None: read as it is read without being asked."""
