"""How English says amounts that a rule has matched: numbers, money, measures, sums (the patterns: rules_en.py)."""

from __future__ import annotations

import re

from . import numbers_en as say
from .tables import rows

SCALE = {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "mn": "million", "bn": "billion",
         "B": "billion", "b": "billion", "tn": "trillion", "T": "trillion"}  # fmt: skip
UNITS = {row[0]: (row[1], row[2]) for row in rows("units.tsv")}
CURRENCY = {row[0]: row[1:5] for row in rows("currency.tsv")}
PER = {
    "hr": "hour", "h": "hour", "hour": "hour", "min": "minute", "sec": "second", "day": "day", "night": "night",
    "wk": "week", "week": "week", "mo": "month", "month": "month", "yr": "year", "year": "year", "person": "person",
    "kg": "kilogram", "lb": "pound", "mi": "mile", "mile": "mile", "km": "kilometer", "gal": "gallon", "oz": "ounce",
    "L": "liter", "liter": "liter", "gallon": "gallon", "pound": "pound", "each": "each", "ea": "each", "unit": "unit",
    "minute": "minute", "second": "second", "s": "second", "item": "item", "guest": "guest", "seat": "seat",
}  # fmt: skip
MIXED = {
    "½": "a half",
    "¼": "a quarter",
    "¾": "three quarters",
    "⅓": "a third",
    "⅔": "two thirds",
    "⅛": "an eighth",
}
SIGNS = {"+": "plus", "-": "minus", "–": "minus", "×": "times", "x": "times", "*": "times", "÷": "divided by",
         "/": "divided by"}  # fmt: skip
POWERS = {"²": " squared", "³": " cubed"}


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
    if bare.startswith("."):
        return "point " + say.digits(bare)
    is_long = len(bare) > 6 and "," not in text and not bare.endswith("000")
    if "." not in bare and (is_long or (len(bare) > 1 and bare[0] == "0")):
        return say.digits(bare, "oh" if len(bare) < 4 else "zero")
    return say.decimal(text)


def is_one(text: str) -> bool:
    """Whether the amount takes a singular unit."""
    return text in ("1", "-1", "1.0")


A_BEFORE = re.compile(r"\b(?:an?|per|one|another|each|every)\s$", re.IGNORECASE)


def describes(m: re.Match[str]) -> bool:
    """Whether an amount stands before its noun ("a $20 bill", "a 10 ft pole") and so takes a singular unit."""
    after = m.string[m.end() : m.end() + 2]
    return after[:1] in (" ", "-") and after[1:].isalpha() and bool(A_BEFORE.search(m.string[: m.start()]))


def money(m: re.Match[str]) -> str:
    """The like of "$3.50", "$2.5 million"."""
    one, many, cent, cents = CURRENCY[m["cur"]]
    amount, scale = m["num"], m["scale"]
    if describes(m):
        many, cents = one, cent
    if scale:
        return f"{number(amount)} {SCALE.get(scale, scale)} {many}"
    whole, _, fraction = amount.replace(",", "").partition(".")
    main = f"{say.cardinal(int(whole or '0'))} {one if int(whole or '0') == 1 else many}"
    if len(fraction) != 2 or not int(fraction):
        return main if not fraction.strip("0") else f"{number(amount)} {many}"
    part = f"{say.cardinal(int(fraction))} {cent if int(fraction) == 1 else cents}"
    return part if int(whole or "0") == 0 else f"{main} and {part}"


def money_first(m: re.Match[str]) -> str:
    """The lower end of "$10-$20": the currency is said once, after the upper end."""
    return f"{number(m['first'])} {SCALE[m['much']] + ' ' if m['much'] else ''}to "


def measure(m: re.Match[str]) -> str | None:
    """The like of "5kg", "6 ft"."""
    unit = m["unit"]
    if unit in "NSEW" and re.match(r"\.? [A-Z\d]", m.string[m.end() :]):
        return None  # a house number before "N Main St"
    one, many = UNITS[unit]
    singular = is_one(m["num"]) or bool(m["dash"]) or describes(m)
    return f"{number(m['num'])} {one if singular else many}{'.' if ends_with_stop(m) else ''}"


def ends_with_stop(m: re.Match[str]) -> bool:
    """Whether the stop of the matched abbreviation ends the text as well."""
    return m.group().endswith(".") and not m.string[m.end() :].strip("\"')")


def rate(m: re.Match[str]) -> str:
    """The like of "90 MB/s", "9.8 m/s²": a unit per a unit."""
    one, many = UNITS[m["unit"]]
    above = f"{number(m['num'])} {one if is_one(m['num']) else many}" if m["num"] else many
    return f"{above} per {PER.get(m['per']) or UNITS[m['per']][0]}{POWERS.get(m['power'] or '', '')}"


def rate_of(m: re.Match[str]) -> str:
    """The like of "8L/100km": so much for every so much."""
    above, below = UNITS[m["unit"]], UNITS[m["per"]]
    first = f"{number(m['num'])} {above[0] if is_one(m['num']) else above[1]}"
    return f"{first} per {number(m['many'])} {below[0] if m['many'] == '1' else below[1]}"


def area(m: re.Match[str]) -> str:
    """The like of "10cm x 20cm", "8x10", "4x100m"."""
    first, last = m["first"], m["last"]
    units = [
        f" {UNITS[unit][not is_one(n)]}" if unit else "" for n, unit in ((first, m["u1"]), (last, m["u2"]))
    ]
    return f"{number(first)}{units[0]} by {number(last)}{units[1]}"


def volume(m: re.Match[str]) -> str:
    """The like of "10x20x30 cm"."""
    unit = f" {UNITS[m[4]][1]}" if m[4] else ""
    return " by ".join(number(m[i]) for i in (1, 2, 3)) + unit


def sum_of(m: re.Match[str]) -> str:
    """Sums before their equals sign: "8 - 3", "2 × 3 + 1"."""
    parts = re.findall(r"[\d.,]*\d|[-–+×x*÷/]", m.group())
    return " ".join(number(part) if part[-1].isdigit() else SIGNS[part] for part in parts)


def fraction(m: re.Match[str]) -> str | None:
    """The like of "1/2", "2 1/2"."""
    top, bottom = int(m["top"]), int(m["bottom"])
    if (top, bottom) == (24, 7):
        return "twenty-four seven"
    if top == bottom and top in (50, 60):
        return f"{say.cardinal(top)} {say.cardinal(top)}"
    if OUT_OF.search(m.string[: m.start()]):
        return f"{say.cardinal(top)} of {say.cardinal(bottom)}"
    if not 1 < bottom <= 100 or (top >= bottom and not m["whole"] and bottom > 16):
        return None
    whole = f"{say.cardinal(int(m['whole']))} and " if m["whole"] else ""
    one = "a" if whole else "one"
    return f"{whole}{one if top == 1 else say.cardinal(top)} {say.plural_ordinal(bottom, top != 1)}"


OUT_OF = re.compile(
    r"\b(?:page|step|slide|part|question|item|chapter|episode|track|round|lap|day)\s$", re.IGNORECASE
)


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
    """The like of "10-12 km", "1914-1918", "50-50"."""
    first, last = m["first"], m["last"]
    years = len(first) == 4 and len(last) == 4 and "." not in first + last
    said = [say.year(int(first)), say.year(int(last))] if years else [number(first), number(last)]
    tail = m["tail"]
    one = m["dash"]
    unit = f" {UNITS[tail][not one]}" if tail in UNITS else " percent" if tail == "%" else ""
    join = " " if first == last and not tail else " to "
    return f"{said[0]}{join}{said[1]}{unit}"


def degrees(text: str, scale: str | None) -> str:
    """An amount of degrees with its scale, if any."""
    name = {"C": " Celsius", "F": " Fahrenheit", "N": " north", "S": " south", "E": " east", "W": " west"}
    return f"{number(text)} degree{'' if is_one(text) else 's'}{name.get(scale or '', '')}"


def temperature(m: re.Match[str]) -> str:
    """Degrees, with or without their scale."""
    return degrees(m[1], m[2])


def temperatures(m: re.Match[str]) -> str:
    """The like of "15-20°C": the scale is said once."""
    return f"{number(m['first'])} to {degrees(m['last'], m['scale'])}"


PLURAL_NOUN = re.compile(r" (?:(?!(?:is|was|has|does|us|this|as|plus|vs|its|his|yes|thus|perhaps|always)\b)"
                         r"[a-z]+[^\Ws]s|people|men|women|children|feet|miles)\b")  # fmt: skip
YEAR_BEFORE = re.compile(r"\b(?:Q[1-4]|FY|H[12]|in|since|of|by|until|till|from|before|after|year|to|and|or|the|during|late|early|mid|\w+'s|"
                         r"circa|around|between|through|January|February|March|April|May|June|July|August|September|"
                         r"October|November|December)[\s-]$", re.IGNORECASE)  # fmt: skip


def plain_number(m: re.Match[str]) -> str:
    """A number that nothing else claims; four digits of our era are a year, unless they count something."""
    text = m.group()
    if re.fullmatch(r"(?:1\d|20)\d\d", text):
        dated = YEAR_BEFORE.search(m.string[max(0, m.start() - 14) : m.start()])
        counts = PLURAL_NOUN.match(m.string, m.end())
        if (text >= "1100" and not counts) or (dated and text > "1000"):
            return say.year(int(text))
    return number(text)
