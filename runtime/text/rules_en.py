"""The patterns of English normalisation, in the order they are tried (what they say: readings_en.py)."""

from __future__ import annotations

import re

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
STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IA KS KY LA MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK "
    "PA RI SC SD TN TX UT VT VA WA WV WI WY"
).replace(" ", "|")  # fmt: skip
NUMBERED = (
    "route|highway|hwy|interstate|road|exit|room|suite|apartment|apt|flight|bus|line|gate|platform|terminal|unit|"
    "floor|building|lane|zone|track|train|tram|channel|area|bay|box|seat|locker|code|model"
)
UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
CURRENCY = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
STREETS = "St|Ave|Blvd|Rd|Ln|Dr|Hwy|Pkwy|Street|Avenue|Boulevard|Road|Lane|Drive|Way"
DOMAINS = "com|org|net|edu|gov|io|co|uk|cn|de|fr|jp|info|biz|us|ca|au|tv|me|ai|app|dev|eu"
DAY = "Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun"
CLOCK = r"\d{1,2}[:：]\d\d(?:\s?[AaPp]\.?[Mm]\b)?"
HALF = r"\s?(?P<half>[AaPp])\.?[Mm]\b\.?"
DIGIT_RULES = (
    rule(
        "date", r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", lambda m: dates.numeric_date(m[1], m[2], m[3])
    ),
    rule("date", r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?!\d)", lambda m: dates.numeric_date(m[3], m[1], m[2])),
    rule(
        "date",
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?P<of> of)? "
        rf"(?P<month>{MONTH})(?:,? (?P<year>\d{{4}}))?(?!\w)",
        dates.day_month,
    ),
    rule(
        "time range",
        r"(?P<h>\d{1,2})(?:[:：](?P<min>\d\d))?(?P<s>)\s?(?P<half>[AaPp])\.?[Mm]\.?\s?[-~]\s?(?=\d{1,2}(?:[:：]|\s?[AaPp]))",
        dates.from_time,
    ),
    rule("duration", r"(\d+)\s?h\s?(\d{1,2})\s?m(?:in)?(?:\s?(\d{1,2})\s?s)?\b", dates.duration),
    rule("mixed number", r"(\d+)\s?([½¼¾⅓⅔])", read.mixed_number),
    rule("fraction", rf"(?P<top>\d)/(?P<bottom>\d)\s?(?P<unit>{UNIT})(?![\w²³/])", read.fraction_of),
    rule(
        "blood pressure", r"(\d{2,3})/(\d{2,3})(?=\s?mmHg)", lambda m: f"{number(m[1])} over {number(m[2])}"
    ),
    rule("nine eleven", r"9/11(?![\d/])", lambda m: "nine eleven"),
    rule("division", rf"({NUM}) / (?=\d)", lambda m: f"{number(m[1])} divided by "),
    rule("time range", rf"(?P<from>{CLOCK})\s?[-~—]\s?(?P<to>{CLOCK})(?!\d)", dates.time_range),
    rule(
        "time",
        rf"(?P<h>\d{{1,2}})[:：](?P<min>\d\d)(?:[:：](?P<s>\d\d))?(?:{HALF})?(?![\d:])",
        dates.time_stop,
    ),
    rule("time", rf"(?P<h>\d{{1,2}})(?P<min>)(?P<s>){HALF}", dates.time_stop),
    rule("phone", r"(?:\d-)?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?!\d)|\d{3}-\d{4}(?!\d)", read.phone),
    rule("phone", r"\d{3,4}-\d{7,8}(?!\d)|\d{3}-\d{4}-\d{4}(?!\d)", read.phone),
    rule("phone", r"\d{3} \d{4}(?!\d)|\d{3} \d{3} \d{4}(?!\d)", read.phone_after_call),
    rule("height", r"(\d{1,2})'\s?(\d{1,2})\"", lambda m: f"{number(m[1])} feet {number(m[2])} inches"),
    rule("ordinal", r"(\d[\d,]*)(?:st|nd|rd|th)\b", lambda m: say.ordinal(int(m[1].replace(",", "")))),
    rule("decade", r"(1[5-9]|20)?(\d0)s\b", dates.decade),
    rule(
        "money", rf"(?P<num>{NUM})\s?(?P<scale>)(?P<cur>USD|EUR|GBP|CNY|RMB|JPY|HKD|€|£|¥)(?!\w)", read.money
    ),
    rule("cents", r"(\d+)\s?¢", lambda m: f"{number(m[1])} cent{'' if m[1] == '1' else 's'}"),
    rule("fraction", r"(?:(?P<whole>\d+) )?(?P<top>\d{1,3})/(?P<bottom>\d{1,3})(?![\d/])", read.fraction),
    rule(
        "range",
        r"(?P<first>\d+(?:\.\d+)?)%?\s?[-–~]\s?(?P<last>\d+(?:\.\d+)?)"
        rf"(?:\s?(?P<tail>%|(?:{UNIT})(?!\w)))?(?![-\d])",
        read.span,
    ),
    rule("percent", rf"({NUM})\s?(?:%|pct\b)", lambda m: f"{number(m[1])} percent"),
    rule("temperature", rf"({NUM})\s?°\s?([CF])?(?![A-Za-z])", read.temperature),
    rule("unit", rf"(?P<num>{NUM})(?P<dash>-)?\s?(?P<unit>{UNIT})(?![\w²³/])", read.measure),
    rule("ratio", r"(\d+):(\d+)(?![\d:])", lambda m: f"{number(m[1])} to {number(m[2])}"),
    rule("times", r"(\d+)\s?[x×]\s?(\d+)(?!\w)", lambda m: f"{number(m[1])} by {number(m[2])}"),
    rule("scale", rf"({NUM})(k|K|M|bn)(?!\w)", lambda m: f"{number(m[1])} {SCALE[m[2]]}"),
    rule("code", r"\d+[A-Za-z][A-Za-z0-9]*", read.mixed_code),
    rule("version", r"\d+(?:\.\d+){2,}", read.version),
    rule("number", NUM, read.plain_number),
)


def marks(column: int) -> tuple[Rule, ...]:
    """Rules for the lone signs of marks.tsv, in the language of the column."""
    table = {row[0]: row[column].replace("<space>", " ") for row in rows("marks.tsv")}
    signs = "".join(map(re.escape, table))
    return (rule("mark", rf"\s?([{signs}])\s?", lambda m: table[m[1]]),)


SYMBOL_RULES = (
    rule(
        "money",
        rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?:\s?(?P<scale>(?:{SCALES})\b|(?:k|K|m|M|bn|B)\b))?",
        read.money,
    ),
    rule(
        "phone", r"\+\d{1,3}[- ]?(?:\(?\d{1,4}\)?[- ]?){2,4}\d{2,4}(?!\d)|\(\d{3}\) ?\d{3}-\d{4}", read.phone
    ),
    rule("decade", r"'()(\d0)s\b", dates.decade),
    rule("power", r"\^2(?!\d)", lambda m: " squared"),
    rule("power", r"\^3(?!\d)", lambda m: " cubed"),
    rule("power", r"\^(\d+)", lambda m: f" to the power of {number(m[1])}"),
    rule("arrow", r"\s?[-=]>\s?", lambda m: " to "),
    rule("per", rf"/({'|'.join(read.PER)})\b\.?", lambda m: f" per {read.PER[m[1]]}"),
    rule("number sign", r"#(?=\d)", lambda m: "number "),
    rule("hashtag", r"#(?=[A-Za-z])", lambda m: "hashtag "),
    rule("minus", rf"(?<![\w)])-(?={NUM})", lambda m: "minus "),
    rule("plus", r" ?\+(?!\+) ?", lambda m: " plus "),
    rule("decimal", r"(?<!\w)\.(\d+)", lambda m: f"point {say.digits(m[1])}"),
    rule("about", r"~(?=\d)", lambda m: "about "),
    *marks(1),
)
LETTER_RULES = (
    rule("direction", rf"([NSEW]) (?=(?:[A-Z][a-z]+|\d+(?:st|nd|rd|th)) (?:{STREETS})\b)", read.direction),
    rule("direction", r"([NS][EW])\b(?![.&/-])", lambda m: read.COMPASS[m[1]]),
    rule("days", rf"({DAY})\.?\s?[-~]\s?({DAY})\b\.?", dates.days),
    rule("plus plus", r"([A-Za-z])\+\+", lambda m: f"{m[1]} plus plus"),
    rule("web", r"(?:https?://|www\.)[^\s\"'<>，。]*[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", read.address),
    rule("web", rf"(?:[A-Za-z0-9-]+\.)+(?:{DOMAINS})\b(?:/[\w/.?=&%#-]*[\w/])?", read.address),
    rule(
        "date",
        rf"(?P<month>{MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%])"
        r"(?P<gap>,? ?)(?P<year>\d{4}\b)?(?<! )",
        dates.month_day,
    ),
    rule("money", rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?:\s?(?P<scale>(?:{SCALES})\b))?", read.money),
    rule(
        "road",
        r"(?P<letters>I|US|M|A|B|E|SR|CR|FM)-(?P<digits>\d{1,4})(?: ?(?P<tail>[NSEW])\b|\b)",
        read.road,
    ),
    rule(
        "road", rf"(?P<letters>US|UK|{STATES})[ -](?P<digits>\d{{1,4}})(?: ?(?P<tail>[NSEW])\b|\b)", read.road
    ),
    rule(
        "number",
        rf"(?P<word>(?i:{NUMBERED})) (?P<letters>[A-Z]{{0,2}})"
        r"(?P<digits>\d{1,4})(?P<tail>[A-Z]?)\b(?![.:,]\d)",
        read.numbered,
    ),
    rule("code", r"(?P<letters>[A-Z]{1,4})-?(?P<digits>\d+)(?P<tail>[A-Z]{0,2})\b", read.road),
    rule("code", r"[A-Za-z]+\d[A-Za-z0-9]*(?!\.\d)", read.mixed_code),
    rule(
        "roman",
        r"(?P<head>[A-Z][a-z]+) "
        r"(?P<numeral>(?=[IVXLC]+\b)(?:C{1,3}|XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\b(?!['.]\w)",
        read.roman,
    ),
    rule("initials", r"(?:[A-Za-z]\.){2,}", read.initials),
    rule("abbreviation", r"(?P<word>[A-Za-z]+)(?P<stop>\.)?", read.abbreviation),
)
