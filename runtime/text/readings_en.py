"""How English says what a rule has matched: money, measures, codes, addresses … (dates: dates_en.py)."""

from __future__ import annotations

import re

from . import numbers_en as say
from .tables import rows

SCALE = {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "bn": "billion", "B": "billion"}
UNITS = {row[0]: (row[1], row[2]) for row in rows("units.tsv")}
CURRENCY = {row[0]: row[1:5] for row in rows("currency.tsv")}
ABBREVIATIONS = {row[0].rstrip("."): row for row in rows("abbreviations.tsv")}
PHRASES = {"e.g.": "for example", "i.e.": "that is"}
WEB_SIGNS = {
    ".": "dot", "/": "slash", "@": "at", "-": "dash", "_": "underscore", ":": "colon", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "%": "percent", "+": "plus", "~": "tilde",
}  # fmt: skip


def spell(text: str) -> str:
    """Letters apart, for the G2P to read as an acronym."""
    return " ".join(text.upper())


def number(text: str) -> str:
    """A number with thousands commas, decimals and a sign."""
    if text[:1] in "-+":
        return ("minus " if text[0] == "-" else "plus ") + number(text[1:])
    if text.count(".") > 1:
        return " point ".join(say.cardinal(int(part)) for part in text.split(".") if part)
    bare = text.replace(",", "")
    if "." not in bare and ((len(bare) > 6 and "," not in text) or (len(bare) > 1 and bare[0] == "0")):
        return say.digits(bare, "oh" if len(bare) < 4 else "zero")
    return say.decimal(text)


def is_one(text: str) -> bool:
    """Whether the amount takes a singular unit."""
    return text in ("1", "-1", "1.0")


def money(m: re.Match[str]) -> str:
    """The like of "$3.50", "$2.5 million"."""
    one, many, cent, cents = CURRENCY[m["cur"]]
    amount, scale = m["num"], m["scale"]
    if scale:
        return f"{number(amount)} {SCALE.get(scale, scale)} {many}"
    whole, _, fraction = amount.replace(",", "").partition(".")
    main = f"{say.cardinal(int(whole))} {one if int(whole) == 1 else many}"
    if len(fraction) != 2 or not int(fraction):
        return main if not fraction.strip("0") else f"{number(amount)} {many}"
    part = f"{say.cardinal(int(fraction))} {cent if int(fraction) == 1 else cents}"
    return part if int(whole) == 0 else f"{main} and {part}"


def measure(m: re.Match[str]) -> str:
    """The like of "5kg", "6 ft"."""
    one, many = UNITS[m["unit"]]
    singular = is_one(m["num"]) or bool(m["dash"])
    return f"{number(m['num'])} {one if singular else many}"


def phone(m: re.Match[str]) -> str:
    """Digit by digit, a pause between groups."""
    groups = re.findall(r"\d+", m.group())
    plus = "plus " if m.group().startswith("+") else ""
    return plus + ", ".join(say.digits(group) for group in groups)


CALLING = re.compile(r"\b(?:call|dial|phone|ring|text|number|tel|fax)\b[^.!?]{0,12}$", re.IGNORECASE)
COMPASS = {"NE": "northeast", "NW": "northwest", "SE": "southeast", "SW": "southwest"}
PER = {
    "hr": "hour", "h": "hour", "hour": "hour", "min": "minute", "sec": "second", "day": "day", "night": "night",
    "wk": "week", "week": "week", "mo": "month", "month": "month", "yr": "year", "year": "year", "person": "person",
    "kg": "kilogram", "lb": "pound", "mi": "mile", "mile": "mile", "km": "kilometer", "gal": "gallon",
}  # fmt: skip
MIXED = {"½": "a half", "¼": "a quarter", "¾": "three quarters", "⅓": "a third", "⅔": "two thirds"}
DIRECTIONS = {"N": "North", "S": "South", "E": "East", "W": "West"}


def phone_after_call(m: re.Match[str]) -> str | None:
    """Groups of digits that only a word like "call" makes a telephone number."""
    return phone(m) if CALLING.search(m.string[: m.start()]) else None


def direction(m: re.Match[str]) -> str:
    """The like of "N" in "N Main St."."""
    return DIRECTIONS[m[1]] + " "


def fraction(m: re.Match[str]) -> str | None:
    """The like of "1/2", "2 1/2"."""
    top, bottom = int(m["top"]), int(m["bottom"])
    if (top, bottom) == (24, 7):
        return "twenty-four seven"
    if not 1 < bottom <= 100 or (top >= bottom and not m["whole"] and bottom > 16):
        return None
    whole = f"{say.cardinal(int(m['whole']))} and " if m["whole"] else ""
    one = "a" if whole else "one"
    return f"{whole}{one if top == 1 else say.cardinal(top)} {say.plural_ordinal(bottom, top != 1)}"


def mixed_number(m: re.Match[str]) -> str:
    """The like of "1½"."""
    return f"{number(m[1])} and {MIXED[m[2]]}"


def fraction_of(m: re.Match[str]) -> str | None:
    """The like of "1/4 mi"."""
    top, bottom = int(m["top"]), int(m["bottom"])
    if not 0 < top < bottom:
        return None
    if (top, bottom) == (1, 2):
        return f"half a {UNITS[m['unit']][0]}"
    return f"{say.cardinal(top)} {say.plural_ordinal(bottom, top != 1)} {UNITS[m['unit']][0]}"


def span(m: re.Match[str]) -> str:
    """The like of "10-12 km", "1914-1918"."""
    first, last = m["first"], m["last"]
    years = len(first) == 4 and len(last) == 4 and "." not in first + last
    said = [say.year(int(first)), say.year(int(last))] if years else [number(first), number(last)]
    tail = m["tail"]
    unit = f" {UNITS[tail][1]}" if tail in UNITS else " percent" if tail == "%" else ""
    return f"{said[0]} to {said[1]}{unit}"


def address(m: re.Match[str]) -> str:
    """Web and mail addresses."""
    text = m.group()
    said = []
    for part in re.findall(r"[A-Za-z]+|\d+|[^A-Za-z\d]", text.removesuffix("/")):
        if part.isdigit():
            said.append(say.cardinal(int(part)) if len(part) < 3 and part[0] != "0" else say.digits(part))
        elif part.isalpha():
            vowels = re.search("[aeiouy]", part.lower())
            letters = (
                not vowels
                or len(part) == 1
                or part.lower() in ("io", "uk", "us", "ai", "tv", "edu", "eu", "au")
            )
            said.append(spell(part) if letters else part)
        else:
            said.append(WEB_SIGNS.get(part, ""))
    return " ".join(filter(None, said)).replace("colon slash slash", "colon slash slash")


def road(m: re.Match[str]) -> str:
    """Letters and digits joined: roads, plates, models."""
    letters, digits, tail = m["letters"], m["digits"], m["tail"]
    said = spell(letters) if letters.isupper() else letters
    way = f" {DIRECTIONS[tail]}" if tail in DIRECTIONS else f" {spell(tail)}" if tail else ""
    return f"{said} {say.pairs(digits)}{way}"


def numbered(m: re.Match[str]) -> str:
    """The like of "exit 3B", "room 305", "flight BA2490"."""
    tail = m["tail"]
    head = f" {spell(m['letters'])}" if m["letters"] else ""
    return f"{m['word']}{head} {say.pairs(m['digits'])}" + (f" {spell(tail)}" if tail else "")


def mixed_code(m: re.Match[str]) -> str | None:
    """Any other word of letters and digits."""
    text = m.group()
    if not (re.search(r"\d", text) and re.search("[A-Za-z]", text)):
        return None
    said = []
    for part in re.findall("[A-Za-z]+|[0-9]+", text):
        if part.isdigit():
            said.append(say.pairs(part))
        else:
            said.append(spell(part) if part.isupper() or len(part) == 1 else part)
    return " ".join(said)


NEEDS_STOP = frozenset(
    [
        "No",
        "Co",
        "Pl",
        "Sq",
        "Gen",
        "Col",
        "Rep",
        "Sen",
        "Rev",
        "Hon",
        "Mar",
        "Jun",
        "Jul",
        "Sep",
        "Dec",
        "Oct",
        "Apr",
        "Jan",
        "Fig",
        "fig",
        "ch",
        "est",
        "min",
        "max",
        "al",
        "Maj",
        "Cir",
        "Ter",
        "Pk",
        "Ext",
        "ext",
        "Ste",
        "Ft",
        "Corp",
        "Inc",
        "Ct",
        "Sr",
        "Apt",
    ]
)
"""Abbreviations that are words or names as well: they count only with their stop."""


def abbreviation(m: re.Match[str]) -> str | None:
    """Titles and streets by what stands around them."""
    row = ABBREVIATIONS.get(m["word"])
    if row is None or (not m["stop"] and row[0].rstrip(".") in NEEDS_STOP):
        return None
    text, end = m.string, m.end()
    after = text[end:].lstrip()
    name_before = re.search(r"(?:[A-Z][\w']*|\d(?:st|nd|rd|th))\s$", text[: m.start()])
    name_after = after[:1].isupper()
    spoken = row[1]
    if len(row) > 3 and (name_before and (not name_after or " " in text[: m.start()].strip())):
        spoken = row[3]
    elif row[0].startswith("No") and not after[:1].isdigit():
        return None
    if row[0].startswith("St.") and not name_before and not name_after:
        spoken = row[3]
    ends = m["stop"] and not after.strip("\"')")
    return spoken + ("." if ends else "")


MONARCHS = frozenset(row[0] for row in rows("roman.tsv") if row[1] == "ordinal")
ROMAN_HEADS = frozenset(row[0] for row in rows("roman.tsv") if row[1] == "cardinal")


def roman(m: re.Match[str]) -> str | None:
    """Roman numerals after the words of roman.tsv and other names."""
    numeral = m["numeral"]
    head = m["head"]
    if re.search("[LC]", numeral) and (len(numeral) == 1 or head not in ROMAN_HEADS):
        return None
    if not numeral:  # the pattern's parts may all be empty
        return None
    if len(numeral) == 1 and head not in ROMAN_HEADS and not (head in MONARCHS and numeral != "I"):
        return None
    n = say.roman(numeral)
    return f"{head} the {say.ordinal(n)}" if head in MONARCHS else f"{head} {say.cardinal(n)}"


def initials(m: re.Match[str]) -> str:
    """The like of "U.S.", "e.g."."""
    if m.group() in PHRASES:
        return PHRASES[m.group()]
    letters = m.group().replace(".", "")
    ends = not m.string[m.end() :].strip("\"') ")
    return spell(letters) + ("." if ends else "")


def plain_number(m: re.Match[str]) -> str:
    """A number that nothing else claims; four digits of our era are a year."""
    text = m.group()
    if re.fullmatch("(?:1[1-9]|20)\\d\\d", text):
        return say.year(int(text))
    return number(text)


def temperature(m: re.Match[str]) -> str:
    """Degrees, with or without their scale."""
    scale = {"C": " Celsius", "F": " Fahrenheit"}.get(m[2] or "", "")
    return f"{number(m[1])} degree{'' if is_one(m[1]) else 's'}{scale}"


def version(m: re.Match[str]) -> str:
    """Numbers joined by stops; four of them are a network address."""
    parts = m.group().split(".")
    return (" dot " if len(parts) == 4 else " point ").join(say.cardinal(int(part)) for part in parts)
