"""How English says codes that a rule has matched: telephones, roads, rooms, versions, addresses, files."""

from __future__ import annotations

import re

from . import numbers_en as say
from .readings_en import number, spell
from .tables import rows

NUMBERED = {row[0]: row[1] if len(row) > 1 else "" for row in rows("numbered.tsv")}
FILES = {row[0]: row[1] for row in rows("filetypes.tsv")}
DIRECTIONS = {"N": "North", "S": "South", "E": "East", "W": "West"}
COMPASS = {**DIRECTIONS, "NE": "Northeast", "NW": "Northwest", "SE": "Southeast", "SW": "Southwest"}
WEB_SIGNS = {
    ".": "dot", "/": "slash", "@": "at", "-": "dash", "_": "underscore", ":": "colon", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "%": "percent", "+": "plus", "~": "tilde", "\\": "backslash",
}  # fmt: skip
SPELLED = frozenset(
    "io uk us ai tv edu eu au de fr jp cn ca es it nl se ru br kr hk sg nz ch at be api cdn html qq".split()  # noqa: SIM905
)
"""Parts of addresses that are said letter by letter though they have vowels."""
CALLING = re.compile(r"\b(?:call|dial|phone|ring|text|number|tel|telephone|fax|hotline|mobile|cell|whatsapp|sms|line|"
                     r"lines|reach)\b\.?[^.!?\d]{0,14}$", re.IGNORECASE)  # fmt: skip
CODE = re.compile(r"\b(?:code|pin|passcode|password|zip|otp|postcode|passcode|order|ticket|account|confirmation|"
                  r"reference|ref|serial|tracking|id|number|ending in)\b[^.!?\d]{0,12}$", re.IGNORECASE)  # fmt: skip
GOES_ON = re.compile(r"\s?(?:$|[.,;:!?)]|(?:now|for|to|at|if|or|and|in|from|on|today|please|immediately|when|right|with|"
                     r"any|after|before|again|is|was|free|toll)\b)")  # fmt: skip


def phone(m: re.Match[str]) -> str:
    """Digit by digit, a pause between groups; letters as the word they make."""
    groups = re.findall(r"\d+|[A-Z]+", m.group())
    plus = "plus " if m.group().startswith("+") else ""
    return plus + ", ".join(say.digits(group) if group.isdigit() else group.lower() for group in groups)


def phone_after_call(m: re.Match[str]) -> str | None:
    """Digits that only a word like "call" makes a telephone number."""
    if not CALLING.search(m.string[max(0, m.start() - 40) : m.start()]) or not GOES_ON.match(
        m.string, m.end()
    ):
        return None
    digits = re.findall(r"\d", m.group())
    return phone(m) if len(digits) > 2 and not re.search(r"\d0{3}$", m.group()) else None


def code_after_word(m: re.Match[str]) -> str | None:
    """Digits after "code", "PIN", "ZIP" …: one by one."""
    return say.digits(m.group()) if CODE.search(m.string[max(0, m.start() - 40) : m.start()]) else None


def hours(digits: str) -> str:
    """Military time: "fourteen thirty", "oh eight hundred"."""
    return ("oh " if digits[0] == "0" else "") + say.pairs(digits.lstrip("0"))


def road(m: re.Match[str]) -> str:
    """Letters and digits joined: roads, plates, models."""
    letters, digits, tail = m["letters"], m["digits"], m["tail"]
    said = spell(letters) if letters.isupper() else letters
    way = f" {DIRECTIONS[tail]}" if tail in DIRECTIONS else f" {spell(tail)}" if tail else ""
    return f"{said} {say.pairs(digits)}{way}"


def named_version(m: re.Match[str]) -> str:
    """The like of "PM2.5", "iOS17.2"."""
    name = spell(m["name"]) if m["name"].isupper() else m["name"]
    return f"{name} {number(m['num'])}"


def house(m: re.Match[str]) -> str:
    """The number of a house, before its street."""
    digits = m[1]
    return (say.pairs(digits) if len(digits) < 5 else say.digits(digits)) + " "


def numbered(m: re.Match[str]) -> str:
    """The like of "exit 3B", "room 305", "flight BA2490", "exits 12-14"; "figure 3-2" is no range."""
    tail = m["tail"]
    head = f" {spell(m['letters'])}" if m["letters"] else ""
    word = NUMBERED[m["word"].lower()] or m["word"]
    last = ""
    if m["last"]:
        last = (" to " if int(m["last"]) > int(m["digits"]) else " ") + say.pairs(m["last"])
    return f"{word}{head} {say.pairs(m['digits'])}" + (f" {spell(tail)}" if tail else "") + last


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


def version(m: re.Match[str]) -> str:
    """Numbers joined by stops; four of them are a network address."""
    parts = m.group().split(".")
    if len(parts) == 4:
        return " dot ".join(say.digits(part) if len(part) > 2 else say.cardinal(int(part)) for part in parts)
    return " point ".join(say.cardinal(int(part)) for part in parts)


def address(m: re.Match[str]) -> str:
    """Web and mail addresses, and paths."""
    text, _, ending = m.group().rpartition(".")
    if ending not in FILES or "/" in text[:8] or "@" in text:
        text, ending = m.group(), ""
    said = []
    for part in re.findall(r"[A-Za-z]+|\d+|[^A-Za-z\d]", text.removesuffix("/")):
        if part.isdigit():
            said.append(say.cardinal(int(part)) if len(part) < 3 and part[0] != "0" else say.pairs(part))
        elif part.isalpha():
            letters = len(part) == 1 or part.lower() in SPELLED or not re.search("[aeiouy]", part.lower())
            said.append(spell(part) if letters else part.lower() if part.isupper() else part)
        else:
            said.append(WEB_SIGNS.get(part, ""))
    return " ".join(filter(None, said)) + (f" dot {FILES[ending]}" if ending else "")
