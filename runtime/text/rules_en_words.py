"""The patterns of English normalisation for what begins with a letter, in the order they are tried."""

from __future__ import annotations

from . import codes_en as code
from . import dates_en as dates
from . import names_en as names
from . import readings_en as read
from .codes_en import FILES, NUMBERED
from .names_en import STATES
from .rules import rule
from .rules_en import CURRENCY, MONTH, NUM, SCALES

STATE = "|".join(STATES)
NUMBERED_WORDS = "|".join(sorted(NUMBERED, key=len, reverse=True))
STREETS = (
    "St|Ave|Blvd|Rd|Ln|Dr|Hwy|Pkwy|Ct|Pl|Street|Avenue|Boulevard|Road|Lane|Drive|Way|Court|Place|Parkway"
)
DOMAINS = (
    "com|org|net|edu|gov|io|co|uk|cn|de|fr|jp|info|biz|us|ca|au|tv|me|ai|app|dev|eu|es|it|nl|se|ru|br|kr|hk|sg|nz|ch|"
    "xyz|online|store|shop|cloud|tech|site|blog|news|int|mil|in|ly|gg"
)
FILE = "|".join(sorted(FILES, key=len, reverse=True))
DAY = "Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun"
NUMERAL = r"(?=[IVXLC]+\b)(?:C{1,3}|XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
LETTER_RULES = (
    rule("direction", rf"(?P<way>[NSEW]|[NS][EW])\.? (?=(?:(?:[A-Z][\w']* ){{1,3}}|\d+(?:st|nd|rd|th) )(?:{STREETS})\b)",
         names.direction),
    rule("direction", r"(?P<way>[NS][EW])\b(?!\.[A-Za-z]|[&/-])", lambda m: code.COMPASS[m["way"]].lower()),
    rule("direction", rf"(?P<street>{STREETS})\.? (?P<way>[NS][EW]|[NSEW])\b(?!\.[A-Z]|')\.?", names.street_direction),
    rule("direction", r"(?P<head>[Gg]o|[Hh]ead|[Dd]rive|[Cc]ontinue|[Ww]alk|[Tt]urn|[Kk]eep) (?P<way>[NSEW]) (?=on|along|for)", names.headed),
    rule("days", rf"({DAY})\.?\s?[-–~]\s?({DAY})\b\.?", dates.days),
    rule("day", rf"(?P<name>{DAY})(?=\.?,? (?:(?:{MONTH})|\d))\.?", dates.weekday),
    rule("day", rf"(?P<name>{DAY})\b(?![-'])", dates.weekday_after),
    rule("plus plus", r"([A-Za-z])\+\+", lambda m: f"{m[1]} plus plus"),
    rule("sharp", r"([A-G])[#♯](?!\w)", lambda m: f"{m[1]} sharp"),
    rule("flat", r"([A-G])♭", lambda m: f"{m[1]} flat"),
    rule("web", r"(?:https?|ftp)://[^\s\"'<>，。]*[\w/]|www\.[^\s\"'<>，。]*[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", code.address),
    rule("web", rf"(?:[A-Za-z0-9_-]+\.)+(?:{DOMAINS})\b(?::\d+)?(?:/[\w/.?=&%#~-]*[\w/])?(?!\.\w)", code.address),
    rule("web", r"localhost(?::\d+)?(?:/[\w/.-]*\w)?", code.address),
    rule("file", rf"[A-Za-z][\w-]*(?:\.[\w-]+)*\.(?:{FILE})\b(?!\.\w)", code.address),
    rule("path", r"[A-Za-z]:\\[\w\\.-]+", code.address),
    rule("months", rf"({MONTH})\s?[-–~]\s?({MONTH})(?!\w)", dates.months),
    rule(
        "date",
        rf"(?P<month>{MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%])"
        r"(?:\s?[-–]\s?(?P<last>\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?P<gap>,? ?)(?P<year>\d{4}\b)?(?<! )",
        dates.month_day,
    ),
    rule("date", rf"(?P<month>{MONTH}) (?P<year>(?:1\d|20)\d\d)(?!\w)", dates.month_year),
    rule("money", rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?:\s?(?P<scale>(?:{SCALES})\b|(?:k|K|m|M|bn|B)\b))?", read.money),
    rule("road", r"(?P<letters>[AM])(?P<digits>\d{1,3})\((?P<tail>M)\)", code.road),
    rule(
        "road",
        rf"(?P<letters>I|M|A|B|E|SR|CR|FM|US|UK|{STATE})-(?P<digits>\d{{1,4}})(?: ?(?P<tail>[NSEW])\b(?!')|\b)",
        code.road,
    ),
    rule(
        "road",
        rf"(?P<letters>US|UK|SR|CR|FM|{STATE}) (?P<digits>\d{{1,4}})(?: ?(?P<tail>[NSEW])\b(?!')|\b)(?![,.]\d|%)",
        code.road,
    ),
    rule("road", r"U\.S\. (?P<digits>\d{1,3})\b(?P<letters>)(?P<tail>)(?![,.]\d|%)",
         lambda m: f"U S {code.road(m).strip()}"),
    rule("state", rf"(?<=[a-z], )(?P<state>{STATE})\b(?: (?P<zip>\d{{5}})(?!\d))?", names.state),
    rule(
        "number",
        rf"(?P<word>(?i:{NUMBERED_WORDS}))\.? (?P<letters>[A-Z]{{0,2}})"
        r"(?P<digits>\d{1,4})(?P<tail>[A-Z]?)(?:\s?[-–]\s?(?P<last>\d{1,4}))?\b(?![.:,]\d| \d+/\d|%|-\d)",
        code.numbered,
    ),
    rule("letters", r"A\s?[-–~]\s?([B-Z])\b(?!-)", lambda m: f"A to {m[1]}"),
    rule("version", r"(?P<name>[A-Za-z]+)(?P<num>\d{1,4}\.\d+)(?![\w.]*\d)", code.named_version),
    rule("code", r"(?P<letters>[A-Z]{1,4})-?(?P<digits>\d+)(?P<tail>[A-Z]{0,2})\b(?!\.\d)", code.road),
    rule("code", r"[A-Za-z]+\d[A-Za-z0-9]*(?!\.\d)", code.mixed_code),
    rule(
        "roman",
        rf"(?P<head>(?:Chapter|Part|Act|Volume|Vol\.|Book|Scene|Section|Article|Figure|Table|Grade|Type|Level|Phase|Stage)s?) "
        rf"(?P<first>{NUMERAL})\s?(?P<join>and|or|to|&|-|–)\s?(?P<last>{NUMERAL})\b(?<=[IVXLC])",
        names.roman_and,
    ),
    rule("roman", rf"(?P<numeral>{NUMERAL})\b(?<=[IVXLC])(?= [Cc]entury)", names.roman_century),
    rule("roman", rf"(?P<head>[A-Z][a-z]+)\.? (?P<numeral>{NUMERAL})\b(?!['.]\w)", names.roman),
    rule("ampersand", r"([A-Z]{1,3})\s?&\s?([A-Z]{1,3})\b(?=[^A-Z]|$)", names.ampersand),
    rule("with", r"(w/o?|b/c|c/o|[Nn]/[Aa])(?![A-Za-z/])\s?", lambda m: names.ABBREVIATIONS[m[1]][1] + " "),
    rule("initials", r"Ph\.\s?D\.?|(?:[A-Za-z]\.){2,}", names.initials),
    rule("abbreviation", r"(?P<word>[A-Za-z]+(?:'l)?)(?P<stop>\.)?", names.abbreviation),
)  # fmt: skip
