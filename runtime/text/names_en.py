"""How English says what belongs to names: abbreviations by place, directions, states, Roman numerals, acronyms."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import numbers_en as say
from .codes_en import COMPASS
from .readings_en import spell
from .tables import rows

ABBREVIATIONS = {row[0].rstrip("."): row for row in rows("abbreviations.tsv")}
ACRONYMS = {row[0]: row[1] for row in rows("acronyms.tsv")}
STATES = {row[0]: row[1] for row in rows("states.tsv")}
PHRASES = {"e.g.": "for example", "i.e.": "that is", "a.k.a.": "also known as", "y.o.": "years old"}
MONARCHS = frozenset(row[0] for row in rows("roman.tsv") if row[1] == "ordinal")
ROMAN_HEADS = frozenset(row[0] for row in rows("roman.tsv") if row[1] == "cardinal")
NAME_BEFORE = re.compile(r"(?:[A-Z][\w']*|\d(?:st|nd|rd|th))\s$")
TITLE_BEFORE = re.compile(r"(?:King|Queen|Pope|Emperor|Empress|Tsar|Czar|Prince|Sultan|Shah|Pharaoh|Saint) $")
REIGNED = re.compile(r"'s|,| (?:of|and|was|died|became|had|came|\w+ed)\b")


def direction(m: re.Match[str]) -> str:
    """The like of "N" in "N Main St."."""
    return COMPASS[m["way"]] + " "


def headed(m: re.Match[str]) -> str:
    """The like of "Head N on"."""
    return f"{m['head']} {COMPASS[m['way']].lower()} "


def street_direction(m: re.Match[str]) -> str:
    """The like of "Ave. N", "1st St NW"."""
    return f"{street(m['street'])} {COMPASS[m['way']]}{'.' if not m.string[m.end() :].strip() else ''}"


def street(word: str) -> str:
    """A street word after its name: "St" is Street there."""
    row = ABBREVIATIONS.get(word)
    return word if row is None else row[3] if len(row) > 3 and row[3] else row[1]


def abbreviation(m: re.Match[str]) -> str | None:
    """Titles and streets by what stands around them."""
    row = ABBREVIATIONS.get(m["word"])
    if row is None:
        return None
    written, spoken, place, after_name, needs = (*row, "", "", "")[:5]
    if not m["stop"] and needs == "stop":
        return None
    text, end = m.string, m.end()
    after = text[end : end + 40].lstrip()
    if (written == "No." or place == "number") and not re.match(r"\d|[IVX]{2,}\b", after):
        return None
    name_before = NAME_BEFORE.search(text[max(0, m.start() - 40) : m.start()])
    name_after = after[:1].isupper()
    if after_name and name_before and (not name_after or " " in text[: m.start()].strip()):
        spoken = after_name
    if written == "St." and not name_before and not name_after:
        spoken = after_name
    ends = m["stop"] and not after.strip("\"')")
    return spoken + ("." if ends else "")


def state(m: re.Match[str]) -> str | None:
    """The like of "MA 02139" after its town, with or without its ZIP code."""
    before = TOWN_BEFORE.search(m.string[: m.start()])
    if not before or (m["state"] in WORDS and before.start() == 0 and not m["zip"]):
        return None
    return STATES[m["state"]] + (f" {say.digits(m['zip'])}" if m["zip"] else "")


TOWN_BEFORE = re.compile(r"(?:[A-Z][\w'.]*[ -]){0,3}[A-Z][\w']*, $")
WORDS = frozenset(["OK", "OR", "IN", "ME", "HI", "OH", "PA", "MA", "ID"])
"""Codes of states that are words as well."""


def roman(m: re.Match[str]) -> str | None:
    """Roman numerals after the words of roman.tsv and other names."""
    head, numeral = m["head"], m["numeral"]
    if not numeral or (re.search("[LC]", numeral) and (len(numeral) == 1 or head not in ROMAN_HEADS)):
        return None  # the pattern's parts may all be empty
    before = m.string[: m.start()]
    is_monarch = head in MONARCHS
    if is_monarch and numeral == "I":
        is_monarch = bool(TITLE_BEFORE.search(before)) or (
            not before.strip() and bool(REIGNED.match(m.string, m.end()))
        )
        if not is_monarch:
            return None
    if len(numeral) == 1 and head not in ROMAN_HEADS and (not is_monarch or numeral == "X"):
        return None
    n = say.roman(numeral)
    if head in ROMAN_HEADS and head in ABBREVIATIONS:
        head = ABBREVIATIONS[head][1]
    first_name = re.search(r"([A-Z][a-z]+) $", before)
    if is_monarch or (first_name and first_name[1] in MONARCHS and head not in ROMAN_HEADS):
        return f"{head} the {say.ordinal(n)}"
    return f"{head} {say.cardinal(n)}"


def roman_and(m: re.Match[str]) -> str:
    """The like of "Chapters II and III", "Parts I-III"."""
    join = {"-": "to", "–": "to", "&": "and"}.get(m["join"], m["join"])
    return f"{m['head']} {say.cardinal(say.roman(m['first']))} {join} {say.cardinal(say.roman(m['last']))}"


def roman_century(m: re.Match[str]) -> str | None:
    """The like of "XXI century"."""
    return say.ordinal(say.roman(m["numeral"])) if m["numeral"] else None


def initials(m: re.Match[str]) -> str:
    """The like of "U.S.", "e.g.", "Ph.D."."""
    if m.group() in PHRASES:
        return PHRASES[m.group()]
    letters = m.group().replace(".", "").replace(" ", "")
    ends = not m.string[m.end() :].strip("\"') ")
    return spell(letters) + ("." if ends else "")


def ampersand(m: re.Match[str]) -> str:
    """The like of "AT&T", "Q&A"."""
    return f"{spell(m[1])} and {spell(m[2])}"


def acronym(word: str, text: str, spells: Callable[[str], bool]) -> str | None:
    """What a word in capitals is said as; None where it stays."""
    said = ACRONYMS.get(word)
    if said is not None and not _is_shouted(text):
        return spell(word) if said == "spell" else said
    return spell(word) if spells(word) else None


def _is_shouted(text: str) -> bool:
    """Whether a text of several words is all in capitals."""
    return not re.search("[a-z]{2}", text) and len(re.findall("[A-Z]{2,}", text)) > 2
