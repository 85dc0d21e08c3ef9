"""English normalisation: the rules that read digits, symbols, abbreviations and addresses as words."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import numbers_en as say
from .clean import Cleaned
from .rules import Rule, Writer, first_that_fits
from .tables import rows

NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
MONTHS = (
    "January February March April May June July August September October November December"
).split()
MONTH = "|".join(MONTHS) + r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
SCALE = {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "bn": "billion", "B": "billion"}
SCALES = "hundred|thousand|million|billion|trillion"
STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IA KS KY LA MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK "
    "PA RI SC SD TN TX UT VT VA WA WV WI WY"
).replace(" ", "|")  # fmt: skip
NUMBERED = (
    "route|highway|hwy|interstate|road|exit|room|suite|apartment|apt|flight|bus|line|gate|platform|terminal|unit|"
    "floor|building|lane|zone|track|train|tram|channel|area|bay|box|seat|locker|code|model"
)
_UNITS = {row[0]: (row[1], row[2]) for row in rows("units.tsv")}
_CURRENCY = {row[0]: row[1:5] for row in rows("currency.tsv")}
_ABBREVIATIONS = {row[0].rstrip("."): row for row in rows("abbreviations.tsv")}
UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
CURRENCY = "|".join(sorted(map(re.escape, _CURRENCY), key=len, reverse=True))
_NAMES = {"at": "@", "dot": "."}
WEB_SIGNS = {
    ".": "dot", "/": "slash", "@": "at", "-": "dash", "_": "underscore", ":": "colon", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "%": "percent", "+": "plus", "~": "tilde",
}  # fmt: skip
DOMAINS = "com|org|net|edu|gov|io|co|uk|cn|de|fr|jp|info|biz|us|ca|au|tv|me|ai|app|dev|eu"


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
    if "." not in bare and (len(bare) > 6 and "," not in text or len(bare) > 1 and bare[0] == "0"):
        return say.digits(bare, "oh" if len(bare) < 4 else "zero")
    return say.decimal(text)


def _is_one(text: str) -> bool:
    return text in ("1", "-1", "1.0")


def _money(m: re.Match[str]) -> str:
    one, many, cent, cents = _CURRENCY[m["cur"]]
    amount, scale = m["num"], m["scale"]
    if scale:
        return f"{number(amount)} {SCALE.get(scale, scale)} {many}"
    whole, _, fraction = amount.replace(",", "").partition(".")
    main = f"{say.cardinal(int(whole))} {one if int(whole) == 1 else many}"
    if len(fraction) != 2 or not int(fraction):
        return main if not fraction.strip("0") else f"{number(amount)} {many}"
    part = f"{say.cardinal(int(fraction))} {cent if int(fraction) == 1 else cents}"
    return part if int(whole) == 0 else f"{main} and {part}"


def _unit(m: re.Match[str]) -> str:
    one, many = _UNITS[m["unit"]]
    singular = _is_one(m["num"]) or bool(m["dash"])
    return f"{number(m['num'])} {one if singular else many}"


def _month(name: str) -> str:
    return next(month for month in MONTHS if month.startswith(name[:3]))


def _month_day(m: re.Match[str]) -> str | None:
    day = int(m["day"])
    if not 1 <= day <= 31:
        return None
    year = f"{', ' if ',' in m['gap'] else ' '}{say.year(int(m['year']))}" if m["year"] else ""
    return f"{_month(m['month'])} {say.ordinal(day)}{year}"


def _day_month(m: re.Match[str]) -> str | None:
    day = int(m["day"])
    if not 1 <= day <= 31:
        return None
    year = f" {say.year(int(m['year']))}" if m["year"] else ""
    return f"{say.ordinal(day)} of {_month(m['month'])}{year}" if m["of"] else f"{say.ordinal(day)} {_month(m['month'])}{year}"


def _numeric_date(year: str, month: str, day: str) -> str | None:
    if len(year) == 2:
        year = ("19" if int(year) > 50 else "20") + year
    first, second = int(month), int(day)
    if first > 12:
        first, second = second, first
    if not (1 <= first <= 12 and 1 <= second <= 31):
        return None
    return f"{MONTHS[first - 1]} {say.ordinal(second)}, {say.year(int(year))}"


def _time(m: re.Match[str]) -> str | None:
    hour, minute = int(m["h"]), int(m["min"] or 0)
    if hour > 24 or minute > 59:
        return None
    half = f" {spell(m['half'][0] + 'M')}" if m["half"] else ""
    if m["s"]:
        parts = ((hour, "hour"), (minute, "minute"), (int(m["s"]), "second"))
        said = [f"{say.cardinal(n)} {unit}{'' if n == 1 else 's'}" for n, unit in parts if n]
        return " ".join(said) + half if said and not half else f"{say.cardinal(hour)} {say.cardinal(minute)}{half}"
    if minute == 0:
        return say.cardinal(hour) + (half or (" o'clock" if m["min"] else ""))
    return f"{say.cardinal(hour)} {'oh ' if minute < 10 else ''}{say.cardinal(minute)}{half}"


def _time_stop(m: re.Match[str]) -> str | None:
    said = _time(m)
    at_end = m["half"] and m.group().endswith(".") and not m.string[m.end() :].strip()
    return f"{said}." if said and at_end else said


def _phone(m: re.Match[str]) -> str:
    groups = re.findall(r"\d+", m.group())
    plus = "plus " if m.group().startswith("+") else ""
    return plus + ", ".join(say.digits(group) for group in groups)


def _fraction(m: re.Match[str]) -> str | None:
    top, bottom = int(m["top"]), int(m["bottom"])
    if (top, bottom) == (24, 7):
        return "twenty-four seven"
    if not 1 < bottom <= 100 or top >= bottom and not m["whole"] and bottom > 16:
        return None
    whole = f"{say.cardinal(int(m['whole']))} and " if m["whole"] else ""
    one = "a" if whole else "one"
    return f"{whole}{one if top == 1 else say.cardinal(top)} {say.plural_ordinal(bottom, top != 1)}"


def _range(m: re.Match[str]) -> str:
    first, last = m["first"], m["last"]
    years = len(first) == 4 and len(last) == 4 and "." not in first + last
    said = [say.year(int(first)), say.year(int(last))] if years else [number(first), number(last)]
    tail = m["tail"]
    unit = f" {_UNITS[tail][1]}" if tail in _UNITS else " percent" if tail == "%" else ""
    return f"{said[0]} to {said[1]}{unit}"


def _web(m: re.Match[str]) -> str:
    text = m.group()
    said = []
    for part in re.findall(r"[A-Za-z]+|\d+|[^A-Za-z\d]", text.removesuffix("/")):
        if part.isdigit():
            said.append(say.cardinal(int(part)) if len(part) < 3 and part[0] != "0" else say.digits(part))
        elif part.isalpha():
            vowels = re.search("[aeiouy]", part.lower())
            letters = not vowels or len(part) == 1 or part.lower() in ("io", "uk", "us", "ai", "tv", "edu", "eu", "au")
            said.append(spell(part) if letters else part)
        else:
            said.append(WEB_SIGNS.get(part, ""))
    return " ".join(filter(None, said)).replace("colon slash slash", "colon slash slash")


def _code(m: re.Match[str]) -> str:
    """Letters and digits joined: roads, plates, models."""
    letters, digits, tail = m["letters"], m["digits"], m["tail"]
    said = spell(letters) if letters.isupper() else letters
    return f"{said} {say.pairs(digits)}" + (f" {spell(tail)}" if tail else "")


def _numbered(m: re.Match[str]) -> str:
    tail = m["tail"]
    head = f" {spell(m['letters'])}" if m["letters"] else ""
    return f"{m['word']}{head} {say.pairs(m['digits'])}" + (f" {spell(tail)}" if tail else "")


def _mixed_code(m: re.Match[str]) -> str | None:
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


def _abbreviation(m: re.Match[str]) -> str | None:
    row = _ABBREVIATIONS.get(m["word"])
    if row is None or (not m["stop"] and row[0].rstrip(".") in ("No", "Co", "Pl", "Sq", "etc", "Gen", "Col", "Rep")):
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


MONARCHS = frozenset(
    "Henry Louis Edward George William Charles James Richard Elizabeth Napoleon Pius Benedict Leo Paul Philip "
    "Frederick Peter Catherine Nicholas Alexander Ivan Francis Gregory Clement Innocent Mary".split()
)
ROMAN_HEADS = frozenset("War Chapter Part Act Volume Book Phase Article Section Mark Type Level Stage Episode Round "
                        "Class Grade Apollo Final Fantasy Rocky Bowl Scene Title Vol Unit Appendix".split())  # fmt: skip


def _roman(m: re.Match[str]) -> str | None:
    numeral = m["numeral"]
    head = m["head"]
    if len(numeral) == 1 and head not in ROMAN_HEADS and not (head in MONARCHS and numeral != "I"):
        return None
    n = say.roman(numeral)
    return f"{head} the {say.ordinal(n)}" if head in MONARCHS else f"{head} {say.cardinal(n)}"


def _initials(m: re.Match[str]) -> str:
    letters = m.group().replace(".", "")
    ends = not m.string[m.end() :].strip("\"') ")
    return spell(letters) + ("." if ends else "")


def _plain_number(m: re.Match[str]) -> str:
    text = m.group()
    if re.fullmatch("(?:1[1-9]|20)\\d\\d", text):
        return say.year(int(text))
    return number(text)


WORD_END = r"(?![\w])"
DIGIT_RULES = (
    Rule("date", re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)"), lambda m: _numeric_date(m[1], m[2], m[3])),
    Rule("date", re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?!\d)"), lambda m: _numeric_date(m[3], m[1], m[2])),
    Rule(
        "date",
        re.compile(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?P<of> of)? (?P<month>{MONTH})(?:,? (?P<year>\d{{4}}))?{WORD_END}"),
        _day_month,
    ),
    Rule(
        "time",
        re.compile(r"(?P<h>\d{1,2})[:：](?P<min>\d\d)(?:[:：](?P<s>\d\d))?(?:\s?(?P<half>[AaPp])\.?[Mm]\b\.?)?(?![\d:])"),
        _time_stop,
    ),
    Rule("time", re.compile(r"(?P<h>\d{1,2})(?P<min>)(?P<s>)\s?(?P<half>[AaPp])\.?[Mm]\b\.?"), _time_stop),
    Rule("phone", re.compile(r"(?:\d-)?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?!\d)|\d{3}-\d{4}(?!\d)|\d{3,4}-\d{7,8}(?!\d)|1-800-[\dA-Z-]{7,}"), _phone),
    Rule("ordinal", re.compile(r"(\d[\d,]*)(?:st|nd|rd|th)\b"), lambda m: say.ordinal(int(m[1].replace(",", "")))),
    Rule("decade", re.compile(r"(1[5-9]|20)?(\d0)s\b"), lambda m: (say.cardinal(int(m[1])) + " " if m[1] else "") + say.decade(int(m[2]))),
    Rule("money", re.compile(rf"(?P<num>{NUM})\s?(?P<scale>)(?P<cur>USD|EUR|GBP|CNY|RMB|JPY|HKD|€|£|¥)(?!\w)"), _money),
    Rule("cents", re.compile(r"(\d+)\s?¢"), lambda m: f"{number(m[1])} cent{'' if m[1] == '1' else 's'}"),
    Rule("fraction", re.compile(r"(?:(?P<whole>\d+) )?(?P<top>\d{1,3})/(?P<bottom>\d{1,3})(?![\d/])"), _fraction),
    Rule("range", re.compile(rf"(?P<first>\d+(?:\.\d+)?)\s?[-–~]\s?(?P<last>\d+(?:\.\d+)?)(?:\s?(?P<tail>%|(?:{UNIT})(?!\w)))?(?![-\d])"), _range),
    Rule("percent", re.compile(rf"({NUM})\s?(?:%|pct\b)"), lambda m: f"{number(m[1])} percent"),
    Rule(
        "temperature",
        re.compile(rf"({NUM})\s?°\s?([CF])?(?![A-Za-z])"),
        lambda m: f"{number(m[1])} degree{'' if _is_one(m[1]) else 's'}" + {"C": " Celsius", "F": " Fahrenheit"}.get(m[2] or "", ""),
    ),
    Rule("unit", re.compile(rf"(?P<num>{NUM})(?P<dash>-)?\s?(?P<unit>{UNIT})(?![\w²³/])"), _unit),
    Rule("ratio", re.compile(r"(\d+):(\d+)(?![\d:])"), lambda m: f"{number(m[1])} to {number(m[2])}"),
    Rule("times", re.compile(r"(\d+)\s?[x×]\s?(\d+)(?!\w)"), lambda m: f"{number(m[1])} by {number(m[2])}"),
    Rule("scale", re.compile(rf"({NUM})(k|K|M|bn|B)(?!\w)"), lambda m: f"{number(m[1])} {SCALE[m[2]]}"),
    Rule("code", re.compile(r"\d+[A-Za-z][A-Za-z0-9]*"), _mixed_code),
    Rule("version", re.compile(r"\d+(?:\.\d+){2,}"), lambda m: (" dot " if m.group().count(".") == 3 else " point ").join(say.cardinal(int(p)) for p in m.group().split("."))),
    Rule("number", re.compile(NUM), _plain_number),
)  # fmt: skip
SYMBOL_RULES = (
    Rule(
        "money",
        re.compile(rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?:\s?(?P<scale>(?:{SCALES})\b|(?:k|K|m|M|bn|B)\b))?"),
        _money,
    ),
    Rule("phone", re.compile(r"\+\d{1,3}[- ]?(?:\(?\d{1,4}\)?[- ]?){2,4}\d{2,4}(?!\d)|\(\d{3}\) ?\d{3}-\d{4}"), _phone),
    Rule("decade", re.compile(r"'(\d0)s\b"), lambda m: say.decade(int(m[1]))),
    Rule("number sign", re.compile(r"#(?=\d)"), lambda m: "number "),
    Rule("hashtag", re.compile(r"#(?=[A-Za-z])"), lambda m: "hashtag "),
    Rule("minus", re.compile(rf"(?<![\w)])-(?={NUM})"), lambda m: "minus "),
    Rule("plus", re.compile(r"\+(?=\d)"), lambda m: "plus "),
    Rule("plus", re.compile(r" ?\+ ?"), lambda m: " plus "),
    Rule("decimal", re.compile(r"(?<!\w)\.(\d+)"), lambda m: f"point {say.digits(m[1])}"),
    Rule("mark", re.compile(r"\s?&\s?"), lambda m: " and "),
    Rule("mark", re.compile(r"\s?=\s?"), lambda m: " equals "),
    Rule("mark", re.compile(r"\s?[×]\s?"), lambda m: " times "),
    Rule("mark", re.compile(r"\s?÷\s?"), lambda m: " divided by "),
    Rule("mark", re.compile(r"\s?±\s?"), lambda m: " plus or minus "),
    Rule("mark", re.compile(r"%"), lambda m: " percent"),
    Rule("mark", re.compile(r"@"), lambda m: " at "),
    Rule("mark", re.compile(r"~(?=\d)"), lambda m: "about "),
    Rule("mark", re.compile(r"°"), lambda m: " degrees"),
    Rule("mark", re.compile(r"²"), lambda m: " squared"),
    Rule("mark", re.compile(r"³"), lambda m: " cubed"),
    Rule("fraction", re.compile(r"[½¼¾⅓⅔]"), lambda m: {"½": "one half", "¼": "one quarter", "¾": "three quarters", "⅓": "one third", "⅔": "two thirds"}[m[0]]),
    Rule("drop", re.compile(r"[/\\|_^*<>{}\[\]$£€¥₹₩§¢~#]"), lambda m: " "),
)  # fmt: skip
LETTER_RULES = (
    Rule(
        "web",
        re.compile(rf"(?:https?://|www\.)[^\s\"'<>，。]*[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[A-Za-z0-9-]+\.)+(?:{DOMAINS})\b(?:/[\w/.?=&%#-]*[\w/])?"),
        _web,
    ),
    Rule(
        "date",
        re.compile(rf"(?P<month>{MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%])(?P<gap>,? ?)(?P<year>\d{{4}}\b)?(?<! )"),
        _month_day,
    ),
    Rule("money", re.compile(rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?:\s?(?P<scale>(?:{SCALES})\b))?"), _money),
    Rule("road", re.compile(r"(?P<letters>I|US|M|A|B|E|SR|CR|FM)-(?P<digits>\d{1,4})(?P<tail>[NSEW])?\b"), _code),
    Rule("road", re.compile(rf"(?P<letters>US|UK|{STATES})[ -](?P<digits>\d{{1,4}})(?P<tail>[NSEW])?\b"), _code),
    Rule("number", re.compile(rf"(?P<word>(?i:{NUMBERED})) (?P<letters>[A-Z]{{0,2}})(?P<digits>\d{{1,4}})(?P<tail>[A-Z]?)\b(?![.:,]\d)"), _numbered),
    Rule("code", re.compile(r"(?P<letters>[A-Z]{1,4})-?(?P<digits>\d+)(?P<tail>[A-Z]{0,2})\b"), _code),
    Rule("code", re.compile(r"[A-Za-z]+\d[A-Za-z0-9]*(?!\.\d)"), _mixed_code),
    Rule("roman", re.compile(r"(?P<head>[A-Z][a-z]+) (?P<numeral>(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3}))\b(?!['.]\w)"), _roman),
    Rule("initials", re.compile(r"(?:[A-Za-z]\.){2,}"), _initials),
    Rule("abbreviation", re.compile(r"(?P<word>[A-Za-z]+)(?P<stop>\.)?"), _abbreviation),
)  # fmt: skip
TOKEN = re.compile(r"[A-Za-zÀ-ɏ]+|\d|[^\w\s]", re.UNICODE)
QUIET = frozenset(",.!?;:\"'()，。！？；：（）…— ")


def normalise(source: Cleaned, first: int, last: int, writer: Writer, is_acronym: Callable[[str], bool]) -> None:
    """Writes source.text[first:last] into `writer` as it is said in English."""
    text = source.text
    at = literal = first
    while True:
        token = TOKEN.search(text, at, last)
        if token is None:
            break
        found = _read(token, text, last, is_acronym)
        if found is None:
            at = token.end()
            continue
        writer.literal(literal, token.start())
        writer.reading(token.start(), found[0], found[1], found[2])
        at = literal = found[0]
    writer.literal(literal, last)


def _read(token: re.Match[str], text: str, last: int, is_acronym: Callable[[str], bool]) -> tuple[int, str, str] | None:
    word = token.group()
    at = token.start()
    if word[0].isdigit():
        return first_that_fits(DIGIT_RULES, text, at, last)
    if not word[0].isalpha():
        if word in QUIET and not (text[at + 1 : at + 2].isdigit() and word in "'."):
            return None
        return first_that_fits(SYMBOL_RULES, text, at, last)
    after = text[token.end() : token.end() + 1]
    if not (word.islower() and after not in ".@:/-_+0123456789 ") or word in _ABBREVIATIONS or after.isdigit():
        found = first_that_fits(LETTER_RULES, text, at, last)
        if found:
            return found
        if len(word) > 1 and word.isupper() and word.isascii() and is_acronym(word):
            return token.end(), spell(word), "acronym"
    return None
