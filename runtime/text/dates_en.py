"""How English says dates and times of day that a rule has matched (the patterns: rules_en.py)."""

from __future__ import annotations

import re

from . import numbers_en as say
from .readings_en import spell
from .tables import rows

MONTHS = tuple(row[0] for row in rows("months.tsv"))


def month(name: str) -> str:
    """The month of a name or its abbreviation."""
    return next(month for month in MONTHS if month.startswith(name[:3]))


def month_day(m: re.Match[str]) -> str | None:
    """The like of "May 3rd, 2021", "Aug 8-12"."""
    day = int(m["day"])
    if not 1 <= day <= 31:
        return None
    last = f" to {say.ordinal(int(m['last']))}" if m["last"] else ""
    year = f"{', ' if ',' in m['gap'] else ' '}{say.year(int(m['year']))}" if m["year"] else ""
    return f"{month(m['month'])} {say.ordinal(day)}{last}{year}"


def month_year(m: re.Match[str]) -> str:
    """The like of "Apr 2023"."""
    return f"{month(m['month'])} {say.year(int(m['year']))}"


def months(m: re.Match[str]) -> str:
    """The like of "Jan-Mar"."""
    return f"{month(m[1])} to {month(m[2])}"


def day_month(m: re.Match[str]) -> str | None:
    """The like of "the 24th of May 1908"."""
    day = int(m["day"])
    if not 1 <= day <= 31:
        return None
    year = f" {say.year(int(m['year']))}" if m["year"] else ""
    return (
        f"{say.ordinal(day)} of {month(m['month'])}{year}"
        if m["of"]
        else f"{say.ordinal(day)} {month(m['month'])}{year}"
    )


def numeric_date(year: str, month: str, day: str) -> str | None:
    """Year, month and day in digits; month and day change places where only that makes a date."""
    if len(year) == 2:
        year = ("19" if int(year) > 50 else "20") + year
    first, second = int(month), int(day)
    if first > 12:
        first, second = second, first
    if not (1 <= first <= 12 and 1 <= second <= 31):
        return None
    return f"{MONTHS[first - 1]} {say.ordinal(second)}, {say.year(int(year))}"


DATED = re.compile(
    r"\b(?:on|by|until|till|due|before|after|since|from|through|expires?|dated?)[ :]\s?$",
    re.IGNORECASE,
)


def bare_date(m: re.Match[str]) -> str | None:
    """The like of "on 12/25": month and day without a year, where a word before shows a date."""
    first, second = int(m[1]), int(m[2])
    if not DATED.search(m.string[max(0, m.start() - 12) : m.start()]) or second < 1 or not 1 <= first <= 12:
        return None
    return f"{MONTHS[first - 1]} {say.ordinal(second)}" if second <= 31 else None


CLOCK_TIME = re.compile(r"(?P<h>\d{1,2})(?:[:：](?P<min>\d\d))?(?P<s>)(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?")


def clock(m: re.Match[str]) -> str | None:
    """The like of "9:30 a.m.", "14:30", "08:30:15" (a time of day), "1:30:05" (a duration)."""
    hour, minute = int(m["h"]), int(m["min"] or 0)
    if hour > 24 or minute > 59:
        return None
    half = f" {spell(m['half'][0] + 'M')}" if m["half"] else ""
    if m["s"] and len(m["h"]) == 2 and hour < 24:
        seconds = int(m["s"])
        tail = f" and {say.cardinal(seconds)} second{'' if seconds == 1 else 's'}" if seconds else ""
        return f"{say.cardinal(hour)} {'oh ' if minute < 10 else ''}{say.cardinal(minute)}{tail}{half}"
    if m["s"]:
        parts = ((hour, "hour"), (minute, "minute"), (int(m["s"]), "second"))
        said = [f"{say.cardinal(n)} {unit}{'' if n == 1 else 's'}" for n, unit in parts if n]
        return (
            " ".join(said) + half
            if said and not half
            else f"{say.cardinal(hour)} {say.cardinal(minute)}{half}"
        )
    if minute == 0:
        return say.cardinal(hour) + (half or (" o'clock" if m["min"] else ""))
    return f"{say.cardinal(hour)} {'oh ' if minute < 10 else ''}{say.cardinal(minute)}{half}"


def time_range(m: re.Match[str]) -> str | None:
    """The like of "9:00-17:30"."""
    first = CLOCK_TIME.fullmatch(m["from"])
    last = CLOCK_TIME.fullmatch(m["to"])
    said = [clock(t) if t else None for t in (first, last)]
    return f"{said[0]} to {said[1]}" if all(said) else None


def time_stop(m: re.Match[str]) -> str | None:
    """A time whose "a.m." may end the sentence."""
    said = clock(m)
    at_end = m["half"] and m.group().endswith(".") and not m.string[m.end() :].strip()
    return f"{said}." if said and at_end else said


def from_time(m: re.Match[str]) -> str | None:
    """The first half of "9am-5pm"."""
    said = clock(m)
    return f"{said} to " if said else None


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def days(m: re.Match[str]) -> str:
    """The like of "Mon-Fri"."""
    first, last = (next(day for day in DAYS if day.startswith(name[:3])) for name in (m[1], m[2]))
    return f"{first} to {last}"


def weekday(m: re.Match[str]) -> str:
    """The like of "Mon" in "Mon, Jan 5"."""
    return next(day for day in DAYS if day.startswith(m["name"][:3]))


WEEKDAY_BEFORE = re.compile(
    r"\b(?:on|every|each|this|next|last|until|till|by|from|to|and|or|is|through|due|was|since|early|late) $",
    re.IGNORECASE,
)


def weekday_after(m: re.Match[str]) -> str | None:
    """The like of "Wed" in "on Wed"."""
    return weekday(m) if WEEKDAY_BEFORE.search(m.string[max(0, m.start() - 10) : m.start()]) else None


def duration(m: re.Match[str]) -> str:
    """The like of "1h 30m", "2 hr 30 min", "5m 30s"."""
    parts = ((m["h"], "hour"), (m["min"], "minute"), (m["s"], "second"))
    return " ".join(f"{say.cardinal(int(n))} {unit}{'' if int(n) == 1 else 's'}" for n, unit in parts if n)


def era(m: re.Match[str]) -> str:
    """The like of "476 AD", "AD 476": years before and after Christ."""
    digits = m["year"]
    year = say.year(int(digits)) if len(digits) > 3 else say.pairs(digits)
    name = spell(m["era"].replace(".", ""))
    return f"{year} {name}"


def decade(m: re.Match[str]) -> str | None:
    """The like of "1980s", "1900s", "the 60s" (but not "30s", seconds)."""
    century, ten = m[1], int(m[2])
    if not century:
        return say.decade(ten) if ten and DECADE_BEFORE.search(m.string[: m.start()]) else None
    if ten:
        return f"{say.cardinal(int(century))} {say.decade(ten)}"
    return "two thousands" if century == "20" else f"{say.cardinal(int(century))} hundreds"


DECADE_BEFORE = re.compile(r"(?:\b(?:the|early|mid|late|his|her|their|my|your|our)[ -]|')$", re.IGNORECASE)


def short_year(m: re.Match[str]) -> str:
    """The like of "'99"."""
    return say.pairs(m[1]) if m[1][0] != "0" else "oh " + say.cardinal(int(m[1][1]))


def season(m: re.Match[str]) -> str | None:
    """The like of "2023/24": a year and the next."""
    first, last = int(m[1]), int(m[2])
    return f"{say.year(first)} {say.cardinal(last)}" if (first + 1) % 100 == last else None
