"""The patterns of English normalisation for digits and signs, in the order they are tried (letters: rules_en_words.py)."""

from __future__ import annotations

import re

from . import codes_en as code
from . import dates_en as dates
from . import numbers_en as say
from . import readings_en as read
from .dates_en import MONTHS
from .readings_en import CURRENCY as CURRENCIES
from .readings_en import SCALE, UNITS, number
from .rules import Rule, rule
from .tables import rows

NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
MONTH = "|".join(MONTHS) + r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
SCALES = "hundred|thousand|million|billion|trillion"
SHORT_SCALES = "k|K|m|M|mn|bn|B|b|tn|T"
UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
SIMPLE_UNIT = "|".join(sorted((re.escape(unit) for unit in UNITS if unit.isalpha()), key=len, reverse=True))
CURRENCY = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
PER = "|".join(sorted(read.PER, key=len, reverse=True))
CLOCK = r"\d{1,2}[:：]\d\d(?:\s?[AaPp]\.?[Mm]\b\.?)?"
HALF = r"\s?(?P<half>[AaPp])\.?[Mm]\b\.?"
DASH = r"\s?[-–—~]\s?"
AFTER_UNIT = r"(?![\w²³/])"
DIGIT_RULES = (
    rule("sum", rf"(?:{NUM})(?:\s?[-–+×x*÷/]\s?(?:{NUM}))+(?=\s?=)", read.sum_of),
    rule("product", rf"({NUM}) ?[×*] ?(?={NUM})", lambda m: f"{number(m[1])} times "),
    rule("date", r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)T?", lambda m: dates.numeric_date(m[1], m[2], m[3])),
    rule("date", r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?!\d)", lambda m: dates.numeric_date(m[3], m[1], m[2])),
    rule("date", r"(\d{1,2})-(\d{1,2})-(\d{4})(?!\d)", lambda m: dates.numeric_date(m[3], m[1], m[2])),
    rule("date", r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)", lambda m: dates.numeric_date(m[3], m[2], m[1])),
    rule(
        "date",
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?P<of> of)? "
        rf"(?P<month>{MONTH})(?:,? (?P<year>\d{{4}}))?(?!\w)",
        dates.day_month,
    ),
    rule("house", r"(\d{2,5}) (?=(?:[NSEW]\.? |[NS][EW] )?(?:(?:[A-Z][\w']* ){1,3}|\d+(?:st|nd|rd|th) )"
         r"(?:St|Ave|Blvd|Rd|Ln|Dr|Hwy|Pkwy|Ct|Pl|Street|Avenue|Boulevard|Road|Lane|Drive|Way)\b)", code.house),
    rule(
        "time range",
        r"(?P<h>\d{1,2})(?:[:：](?P<min>\d\d))?(?P<s>)\s?(?P<half>[AaPp])\.?[Mm]\b\.?"
        r"\s?[-–~]\s?(?=\d{1,2}(?:[:：]|\s?[AaPp]))",
        dates.from_time,
    ),
    rule("duration", r"(?P<h>\d+)\s?(?:h|hrs?)\s?(?P<min>\d{1,2})\s?m(?:ins?)?\b(?:\s?(?P<s>\d{1,2})\s?s(?:ecs?)?\b)?",
         dates.duration),
    rule("duration", r"(?P<h>)(?P<min>\d+)\s?m(?:ins?)?\s?(?P<s>\d{1,2})\s?s(?:ecs?)?\b", dates.duration),
    rule("mixed number", r"(\d+)\s?([½¼¾⅓⅔⅛])", read.mixed_number),
    rule("fraction", rf"(?P<top>\d)/(?P<bottom>\d)\s?(?P<unit>{UNIT}){AFTER_UNIT}", read.fraction_of),
    rule("blood pressure", r"(\d{2,3})/(\d{2,3})(?=\s?mmHg)|(?<=BP )(\d{2,3})/(\d{2,3})|"
         r"(?<=BP is )(\d{2,3})/(\d{2,3})|(?<=pressure )(\d{2,3})/(\d{2,3})|(?<=pressure is )(\d{2,3})/(\d{2,3})",
         lambda m: " over ".join(number(part) for part in m.group().split("/"))),
    rule("nine eleven", r"9/11(?![\d/])", lambda m: "nine eleven"),
    rule("date", r"(\d{1,2})/(\d{1,2})(?![\d/])", dates.bare_date),
    rule("season", r"((?:19|20)\d\d)[/-–](\d\d)(?![\d/-])", dates.season),
    rule("division", rf"({NUM}) / (?=\d)", lambda m: f"{number(m[1])} divided by "),
    rule("time range", rf"(?P<from>{CLOCK}){DASH}(?P<to>{CLOCK})(?!\d)", dates.time_range),
    rule("time range", rf"(?P<from>\d{{1,2}}){DASH}(?P<to>\d{{1,2}}(?:[:：]\d\d)?\s?[AaPp]\.?[Mm]\b\.?)",
         dates.time_range),
    rule(
        "time",
        rf"(?P<h>\d{{1,2}})[:：](?P<min>\d\d)(?:[:：](?P<s>\d\d))?(?:{HALF})?(?![\d:])",
        dates.time_stop,
    ),
    rule("time", rf"(?P<h>\d{{1,2}})(?P<min>)(?P<s>){HALF}", dates.time_stop),
    rule("time", r"(?:0\d|1\d|2[0-3])(?!00)[0-5]\d(?= hours| hrs)|0\d00(?= hours| hrs)", lambda m: code.hours(m.group())),
    rule("era", r"(?P<year>\d{1,4}) (?P<era>AD|BC|BCE|CE|B\.C\.(?:E\.)?|A\.D\.)(?!\w)", dates.era),
    rule("phone", r"(?:\d-)?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?!\d)|\d{3}-\d{4}(?!\d)|1-\d{3}-[A-Z]{4,9}\b|"
         r"1 \(\d{3}\) \d{3}-\d{4}", code.phone),
    rule("phone", r"\d{3,4}-\d{7,8}(?!\d)|\d{3}-\d{4}-\d{4}(?!\d)|0\d{2,4} \d{3,4} \d{3,4}(?!\d)", code.phone),
    rule("phone", r"\d{3,11}(?: \d{3,7}){0,3}(?![\d.,%:/-]*\d)", code.phone_after_call),
    rule("code", r"\d{4,12}(?![\d.,%:/-]*[\d%])", code.code_after_word),
    rule("height", r"(\d{1,2})'\s?(\d{1,2})(?:\"|'')", lambda m: f"{number(m[1])} feet {number(m[2])} inches"),
    rule("ordinal", r"(\d[\d,]*)(?:st|nd|rd|th|ST|ND|RD|TH)\b", lambda m: say.ordinal(int(m[1].replace(",", "")))),
    rule("decade", r"(1[1-9]|20)?(\d0)s\b", dates.decade),
    rule(
        "money", rf"(?P<num>{NUM})\s?(?P<scale>)(?P<cur>[A-Z]{{3}}|€|£|¥|₽)(?!\w)",
        lambda m: read.money(m) if m["cur"] in CURRENCIES else None,
    ),
    rule("cents", r"(\d+)\s?¢", lambda m: f"{number(m[1])} cent{'' if m[1] == '1' or read.describes(m) else 's'}"),
    rule("fraction", r"(?:(?P<whole>\d+) )?(?P<top>\d{1,3})/(?P<bottom>\d{1,3})(?![\d/])", read.fraction),
    rule("temperature range", rf"(?P<first>{NUM})\s?°?\s?[CF]?(?:{DASH}| to )(?P<last>-?(?:{NUM}))\s?°\s?(?P<scale>[CF])\b",
         read.temperatures),
    rule(
        "range",
        rf"(?P<first>\d+(?:\.\d+)?)%?{DASH}(?P<last>\d+(?:\.\d+)?)"
        rf"(?:(?P<dash>-)?\s?(?P<tail>%|(?:{UNIT}){AFTER_UNIT}))?(?!-?\d)",
        read.span,
    ),
    rule("percent", rf"({NUM})\s?(?:%|pct\b)", lambda m: f"{number(m[1])} percent"),
    rule("temperature", rf"({NUM})\s?°\s?([CFNSEW](?![A-Za-z]))?", read.temperature),
    rule("temperature", r"(\d{3})()(?=F\b)F", lambda m: read.degrees(m[1], "F")),
    rule("volume", rf"({NUM})\s?[x×]\s?({NUM})\s?[x×]\s?({NUM})(?:\s?({SIMPLE_UNIT}))?(?!\w)", read.volume),
    rule("area", rf"(?P<first>{NUM})\s?(?P<u1>{SIMPLE_UNIT})?\s?[x×]\s?(?P<last>{NUM})(?:\s?(?P<u2>{SIMPLE_UNIT}))?(?!\w)",
         read.area),
    rule("book", r"97[89](?:-\d+){3}-[\dX]\b", lambda m: ", ".join(map(say.digits, m.group().split("-")))),
    rule("kilo", r"([1-9]|10)K\b", lambda m: f"{number(m[1])} K"),
    rule("unit", rf"(?P<num>{NUM})(?P<dash>-)?\s?(?P<unit>{UNIT}){AFTER_UNIT}", read.measure),
    rule("rate", rf"(?P<num>{NUM})\s?(?P<unit>{SIMPLE_UNIT})/(?P<many>{NUM})\s?(?P<per>{SIMPLE_UNIT})(?!\w)", read.rate_of),
    rule("rate", rf"(?P<num>{NUM})\s?(?P<unit>{SIMPLE_UNIT})/(?P<per>{PER}|{SIMPLE_UNIT})(?P<power>[²³])?(?!\w)", read.rate),
    rule("inches", r"(\d+(?:\.\d+)?)\"(?=[ -][A-Za-z])", lambda m: None if m.string[: m.start()].count('"') % 2
         else f"{number(m[1])} inch"),
    rule("ratio", r"(\d+):(\d+)(?![\d:])", lambda m: f"{number(m[1])} to {number(m[2])}"),
    rule("scale", rf"({NUM})(k|K|M|bn|mn)(?!\w)", lambda m: f"{number(m[1])} {SCALE[m[2]]}"),
    rule("code", r"\d+[A-Za-z][A-Za-z0-9]*", code.mixed_code),
    rule("version", r"\d+(?:\.\d+){2,}", code.version),
    rule("number", NUM, read.plain_number),
)  # fmt: skip


def marks(column: int) -> tuple[Rule, ...]:
    """Rules for the lone signs of marks.tsv, in the language of the column."""
    table = {row[0]: row[column].replace("<space>", " ") for row in rows("marks.tsv")}
    signs = "".join(map(re.escape, table))
    return (rule("mark", rf"\s?([{signs}])\s?", lambda m: table[m[1]]),)


AMOUNT = rf"(?P<num>{NUM}|\.\d+)(?:\s?(?P<scale>(?:{SCALES})\b|(?:{SHORT_SCALES})\b))?"
SYMBOL_RULES = (
    rule("money", rf"(?P<cur>{CURRENCY})\s?(?P<first>{NUM})\s?(?P<much>k|K|m|M|bn|B)?\s?[-–~]\s?(?=(?:{CURRENCY})\s?\d)", read.money_first),
    rule("money", rf"(?P<cur>{CURRENCY})\s?(?P<first>{NUM})\s?[-–~]\s?{AMOUNT}(?![\d.]*-)",
         lambda m: f"{number(m['first'])} to {read.money(m)}"),
    rule("money", rf"(?P<cur>{CURRENCY})\s?{AMOUNT}", read.money),
    rule("minus", rf"(?<![\w)])-\s?(?=(?:{CURRENCY})\s?\d)|(?<=[$£€¥])-(?=\d)", lambda m: "minus "),
    rule(
        "phone", r"\+\d{1,3}[- ]?(?:\(?\d{1,4}\)?[- ]?){2,5}\d{2,4}(?!\d)|\(\d{2,4}\) ?\d{3,4}[- ]?\d{4}", code.phone
    ),
    rule("decade", r"'()(\d0)s\b", lambda m: say.decade(int(m[2]))),
    rule("year", r"'(\d\d)(?![\d'\"])(?= |[.,;!?)]|$)", dates.short_year),
    rule("power", r"\^2(?!\d)", lambda m: " squared"),
    rule("power", r"\^3(?!\d)", lambda m: " cubed"),
    rule("power", r"\^(-?\d+)", lambda m: f" to the power of {number(m[1])}"),
    rule("root", r"√\s?(?=[\dA-Za-z(])", lambda m: "square root of "),
    rule("arrow", r"\s?[-=]+>\s?", lambda m: " to "),
    rule("comparison", r"\s?!==?\s?", lambda m: " is not equal to " if m.group().strip() else None),
    rule("comparison", r"\s?>=\s?", lambda m: " at least "),
    rule("comparison", r"\s?<=\s?", lambda m: " at most "),
    rule("comparison", r"\s?==+\s?(?=\w)", lambda m: " equals "),
    rule("per", rf"/({PER})\b\.?", lambda m: f" per {read.PER[m[1]]}"),
    rule("number sign", r"#(?=\d)", lambda m: "number "),
    rule("hashtag", r"#(?=[A-Za-z])", lambda m: "hashtag "),
    rule("at", r"@(?=\w)", lambda m: "at "),
    rule("minus", rf"(?<![\w)])-(?={NUM})", lambda m: "minus "),
    rule("plus", r" ?\+(?!\+) ?", lambda m: " plus "),
    rule("decimal", r"(?<!\w)\.(\d+)", lambda m: f"point {say.digits(m[1])}"),
    rule("about", r"~(?=\d)", lambda m: "about "),
    rule("about", r"~(?=[$£€¥])", lambda m: "about "),
    rule("range", r"—(?=\d)(?<=\d—)", lambda m: " to "),
    rule("times", r"(?<=\d) \* (?=\d)", lambda m: " times "),
    *marks(1),
)  # fmt: skip
