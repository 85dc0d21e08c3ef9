"""How Chinese says what a rule has matched (the patterns: rules_zh.py)."""

from __future__ import annotations

import re
from functools import cache

from . import numbers_zh as say
from .readings_en import spell
from .tables import rows

UNITS = {row[0]: row[3] for row in rows("units.tsv")}
CURRENCY = {row[0]: row[5] for row in rows("currency.tsv")}
MARKS = {row[0]: row[2] for row in rows("marks.tsv")}
MEASURES = {row[0]: row[1] for row in rows("measures.tsv")}
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
SIGNS = {"+": "加", "-": "减", "–": "减", "×": "乘", "x": "乘", "*": "乘", "÷": "除以", "/": "除以"}
KILO = {"k": "千", "K": "K", "w": "万", "W": "万"}


@cache
def _contexts(kind: str, place: str) -> re.Pattern[str]:
    found = [row[2] for row in rows("contexts.tsv") if row[:2] == (kind, place)]
    return re.compile("|".join(found) or "(?!)")


def follows(m: re.Match[str], kind: str) -> bool:
    """Whether the text before the match shows that its digits are of this kind (contexts.tsv)."""
    return bool(_contexts(kind, "before").search(m.string[max(0, m.start() - 40) : m.start()]))


def precedes(m: re.Match[str], kind: str) -> bool:
    """The same of the text after the match."""
    return bool(_contexts(kind, "after").match(m.string, m.end()))


def number(text: str) -> str:
    """A number with a sign, commas or decimals."""
    if text[:1] in "-+":
        return ("负" if text[0] == "-" else "正") + number(text[1:])
    bare = text.replace(",", "")
    if "." not in bare and len(bare) > 1 and bare[0] == "0":
        return say.digits(bare)
    return say.decimal(bare)


def amount(text: str) -> str:
    """A number before a measure: a lone two is 两."""
    return "两" if text == "2" else number(text)


def year(m: re.Match[str]) -> str | None:
    """The like of "2024年", "80年代"; not "5000年历史", a span of years."""
    digits, after = m[1], m.string[m.end() : m.end() + 3]
    is_span = re.match("[前后来间以内多]|的?历史|文明|的?时间", after)
    if len(digits) == 4 and (int(digits) > 2100 or (is_span and digits.endswith("00"))):
        return None
    if len(digits) == 2:
        if after.startswith("代") and digits.endswith("0") and digits != "00":
            return say.cardinal(int(digits)) + "年"
        if not (re.match(r"代|\d{1,2}月", after) or (digits > "59" and not is_span)):
            return None
    return say.digits(digits) + "年"


def date(m: re.Match[str]) -> str | None:
    """The like of "2024-05-01"."""
    month, day = int(m[2]), int(m[3])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{say.digits(m[1])}年{say.cardinal(month)}月{say.cardinal(day)}日"


def time(m: re.Match[str]) -> str | None:
    """The like of "8:30", "08:05:30"."""
    hour, minute, second = int(m[1]), int(m[2]), m[3]
    if hour > 24 or minute > 59:
        return None
    said = ("两" if hour == 2 else say.cardinal(hour)) + "点"
    if minute:
        said += ("零" if minute < 10 else "") + say.cardinal(minute) + "分"
    elif second:
        said += "零分"
    elif hour == 0:
        said += "整"
    return said + (f"{say.cardinal(int(second))}秒" if second else "")


CLOCK = re.compile(r"(\d{1,2})[:：](\d{2})()")


def half_day(m: re.Match[str]) -> str | None:
    """The like of "3pm", "9:30 am"."""
    clock = CLOCK.fullmatch(f"{m[1]}:{m[2] or '00'}")
    said = time(clock) if clock else None
    return ("上午" if m[3] in "Aa" else "下午") + said if said else None


def time_range(m: re.Match[str]) -> str | None:
    """The like of "8:00-22:00"."""
    last = CLOCK.fullmatch(m[4])
    first, said = time(m), time(last) if last else None
    return f"{first}到{said}" if first and said else None


def duration(m: re.Match[str]) -> str:
    """The like of "1h30min"."""
    seconds = f"{number(m[3])}秒" if m[3] else ""
    return f"{amount(m[1])}小时{number(m[2])}分{seconds or '钟'}"


def degrees(m: re.Match[str]) -> str:
    """The like of 116°23′."""
    return f"{number(m[1])}度{number(m[2])}分" + (f"{number(m[3])}秒" if m[3] else "")


def temperatures(m: re.Match[str]) -> str:
    """The like of -5~3°C: the scale is said once."""
    low, high = ("零下" * bool(m[sign]) + number(m[value]) for sign, value in ((1, 2), (3, 4)))
    return f"{low}到{high}{'华氏' if m[5] == 'F' else '摄氏' if m[5] else ''}度"


def temperature(m: re.Match[str]) -> str:
    """The like of "-5°C"."""
    sign = "零下" if m[1] == "-" else ""
    if m[3] == "F":
        return f"华氏{sign}{number(m[2])}度"
    return f"{sign}{number(m[2])}{'摄氏' if m[3] else ''}度"


def mixed_number(m: re.Match[str]) -> str:
    """The like of "1½"."""
    return f"{number(m[1])}又{MARKS[m[2]]}"


def roman(m: re.Match[str]) -> str:
    """Roman numerals up to twelve."""
    return say.cardinal(ROMAN.index(m.group()) + 1)


def money(m: re.Match[str]) -> str:
    """The like of "￥3,123.20元", "$2.5万"."""
    scale, name = m["scale"] or "", m["unit"] or CURRENCY[m["cur"]]
    whole, _, cents = m["num"].partition(".")
    said = amount(whole) if scale else number(whole)
    cents = cents.rstrip("0")
    return f"{said}{'点' + say.digits(cents) if cents else ''}{KILO.get(scale, scale) if scale != 'K' else '千'}{name}"


def money_range(m: re.Match[str]) -> str:
    """The like of "￥100-200"."""
    return f"{number(m['first'])}到{money(m)}"


def yuan(m: re.Match[str]) -> str:
    """The like of "10.00元": empty cents are not said."""
    return number(m[1])


def phone(m: re.Match[str]) -> str:
    """Digit by digit."""
    return ("加" if m.group().startswith("+") else "") + say.digits(m.group(), "幺")


def code(m: re.Match[str]) -> str | None:
    """The like of "3-2-4567" after "取件码"."""
    return "杠".join(say.digits(part, "幺") for part in m.group().split("-")) if follows(m, "call") else None


def long_digits(m: re.Match[str]) -> str | None:
    """Telephones, codes and serial numbers; None for quantities."""
    text = m.group()
    called = follows(m, "call") or (m.string[: m.start()].endswith("转") and len(text) < 5)
    if (len(text) == 11 and text[0] == "1") or (re.match("400|800|95|1[012][0-9]$", text) and called):
        return say.digits(text, "幺")
    is_day = re.fullmatch(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])", text)
    if len(text) >= 9 or is_day or (len(text) == 5 and text.startswith("95")):
        return say.digits(text, "幺" if called else "一")
    if called and len(text) > 2 and not re.match(f"[{''.join(MEASURES)}]", m.string[m.end() :]):
        return say.digits(text, "幺")
    return None


def model(m: re.Match[str]) -> str | None:
    """The like of "波音747", "歼-20"."""
    if not follows(m, "model"):
        return None
    digits = m.group().lstrip("-")
    return say.digits(digits) if len(digits) > 2 else say.cardinal(int(digits))


def span(m: re.Match[str]) -> str | None:
    """The like of "3-5天", "2019-2021年", "50%~60%"; a score where the words around say so."""
    tail, first, last = m["tail"] or "", m["first"], m["last"]
    if not tail and "." not in first + last and (follows(m, "score") or precedes(m, "score")):
        return f"{number(first)}比{number(last)}"
    are_years = all(re.fullmatch(r"(?:1[5-9]|20)\d\d", n) for n in (first, last)) and tail in ("", "年")
    if are_years:
        return f"{say.digits(first)}到{say.digits(last)}{tail}"
    if tail == "%":
        return f"百分之{number(first)}到百分之{number(last)}"
    say_number = number if tail in ("", *"月日号楼") else amount
    return f"{say_number(first)}到{say_number(last)}{UNITS.get(tail, KILO.get(tail, tail))}"


def score(m: re.Match[str]) -> str:
    """The like of "3:2", "1:10000"."""
    return f"{say.cardinal(int(m[1]))}比{say.cardinal(int(m[2]))}"


def unit(m: re.Match[str]) -> str:
    """The like of "60km/h", "2kg"."""
    name, before = UNITS[m["unit"]], m.string[: m.start()]
    if name.endswith("每小时") and before.endswith("每小时"):
        name = name.removesuffix("每小时")
    return f"{amount(m['num'])}{name}"


def rate(m: re.Match[str]) -> str:
    """The like of "5mg/片": a unit per something."""
    return f"{amount(m['num'])}{UNITS[m['unit']]}每{UNITS.get(m['per'], m['per'])}"


def rate_of(m: re.Match[str]) -> str:
    """The like of "8L/100km": so much for every so much."""
    return f"每{amount(m[3])}{UNITS[m[4]]}{amount(m[1])}{UNITS[m[2]]}"


def fraction(m: re.Match[str]) -> str | None:
    """The like of "3/4"."""
    top, bottom = int(m[1]), int(m[2])
    return f"{say.cardinal(bottom)}分之{say.cardinal(top)}" if 0 < bottom <= 1000 else None


def power(m: re.Match[str]) -> str:
    """The like of "2³", "10^6"."""
    exponent = {"²": "2", "³": "3"}.get(m[2]) or m[3]
    return f"{number(m[1])}的{number(exponent)}次方"


def sum_of(m: re.Match[str]) -> str:
    """Sums before their equals sign: "8-3", "2×3+1"."""
    parts = re.findall(r"[\d.,]*\d|[-–+×x*÷/]", m.group())
    return "".join(number(part) if part[-1].isdigit() else SIGNS[part] for part in parts)


def plate(m: re.Match[str]) -> str:
    """Licence plates: letters and digits one by one."""
    return "".join(f" {c} " if c.isalpha() else say.digits(c) for c in m.group() if c.isalnum()).strip()


def two(m: re.Match[str]) -> str | None:
    """两 before a measure word, but 二 in "第1、2名"."""
    return None if re.search("第[\\d、，]*$", m.string[: m.start()]) else MEASURES[m[1]]


def version(m: re.Match[str]) -> str:
    """Numbers joined by stops."""
    parts = m.group().split(".")
    return "点".join(say.digits(part) if len(part) > 2 else say.cardinal(int(part)) for part in parts)


def letters(m: re.Match[str]) -> str:
    """Letters and digits joined: roads, exits, models, plates."""
    out = ""
    for part in re.findall(r"[A-Za-z]+|[0-9]+(?:\.[0-9]+)?", m.group()):
        if "." in part:
            out += say.decimal(part)
        elif part.isdigit():
            out += say.cardinal(int(part)) if len(part) < 3 and part[0] != "0" else say.digits(part)
        else:
            out += spell(part) if part.isupper() or len(part) == 1 else part
    return out
