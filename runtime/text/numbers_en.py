"""English number words."""

from __future__ import annotations

ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["ten", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = ["", "thousand", "million", "billion", "trillion", "quadrillion"]
ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth",
    "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
DENOMINATORS = {2: ("half", "halves"), 4: ("quarter", "quarters")}


def _below_thousand(n: int) -> list[str]:
    words = []
    if n >= 100:
        words += [ONES[n // 100], "hundred"]
        n %= 100
    if n >= 20:
        words.append(TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else ""))
    elif n:
        words.append(ONES[n])
    return words


def cardinal(n: int) -> str:
    """ "one hundred twenty-three"; numbers past the quadrillions are read digit by digit."""
    if n < 0:
        return "minus " + cardinal(-n)
    if n == 0:
        return ONES[0]
    if n >= 1000 ** len(SCALES):
        return digits(str(n))
    words: list[str] = []
    for scale in range(len(SCALES) - 1, -1, -1):
        group = n // 1000**scale % 1000
        if group:
            words += _below_thousand(group) + ([SCALES[scale]] if scale else [])
    return " ".join(words)


def ordinal(n: int) -> str:
    """ "twenty-first"."""
    head, dash, last = cardinal(n).rpartition("-")
    if not dash:
        head, dash, last = cardinal(n).rpartition(" ")
    if last in ORDINALS:
        last = ORDINALS[last]
    elif last.endswith("y"):
        last = last[:-1] + "ieth"
    else:
        last += "th"
    return head + dash + last


def digits(text: str, zero: str = "zero") -> str:
    """ "five five five zero": digit by digit."""
    return " ".join(zero if d == "0" else ONES[int(d)] for d in text if d.isdigit())


def decimal(text: str) -> str:
    """ "three point one four" from "3.14"; thousands commas are let through."""
    whole, _, fraction = text.replace(",", "").partition(".")
    words = cardinal(int(whole or "0"))
    return f"{words} point {digits(fraction)}" if fraction else words


def year(n: int) -> str:
    """ "nineteen oh eight", "two thousand five", "twenty twenty-four"."""
    high, low = divmod(n, 100)
    if n < 1000 or n > 9999 or (high % 10 == 0 and low < 10):
        return cardinal(n)
    if low == 0:
        return cardinal(high) + " hundred"
    return cardinal(high) + (" oh " if low < 10 else " ") + cardinal(low)


def pairs(text: str) -> str:
    """How road, room and flight numbers are said: "one forty-five", "three oh seven"."""
    if len(text) > 4 or text.startswith("0"):
        return digits(text, "oh" if len(text) < 5 else "zero")
    n = int(text)
    if len(text) < 3 or n % 1000 == 0:
        return cardinal(n)
    if n % 100 == 0:
        return cardinal(n // 100) + " hundred"
    low = n % 100
    return cardinal(n // 100) + (" oh " if low < 10 else " ") + cardinal(low)


def plural_ordinal(n: int, many: bool) -> str:
    """Denominators: "third", "thirds", "half", "quarters"."""
    if n in DENOMINATORS:
        return DENOMINATORS[n][many]
    return ordinal(n) + ("s" if many else "")


def decade(n: int) -> str:
    """ "nineties" from 90."""
    word = TENS[n // 10] if n >= 20 else cardinal(n)
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman(text: str) -> int:
    """Value of a Roman numeral."""
    values = [ROMAN[c] for c in text]
    return sum(-v if v < max(values[i + 1 :], default=0) else v for i, v in enumerate(values))
