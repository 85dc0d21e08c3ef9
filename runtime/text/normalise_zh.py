"""Chinese normalisation: the rules that read digits, units and symbols as Chinese words."""

from __future__ import annotations

import re

from . import numbers_zh as say
from .readings_en import spell
from .rules import first_that_fits, rule
from .rules_en import LETTER_RULES as EN_LETTER_RULES
from .rules_en import marks
from .scripts import HAN_CLASS
from .tables import rows

NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNITS = {row[0]: row[3] for row in rows("units.tsv")}
_CURRENCY = {row[0]: row[5] for row in rows("currency.tsv")}
_MARKS = {row[0]: row[2] for row in rows("marks.tsv")}
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
CURRENCY = "|".join(sorted(map(re.escape, _CURRENCY), key=len, reverse=True))
PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
"""The characters that licence plates begin with."""
SCALE = "[万亿千百十]{0,2}"
MEASURES = (
    "个只条张件位名本辆台座栋层间家块片份次遍天周年分秒点小时公里千米斤吨元角毛倍杯瓶碗袋箱双对套口头匹艘"
    "架节站门排行步段篇句种类项批组队楼升克度岁人"
)
"""Measure words."""
TWO_OF = (
    "斤个只条张件位名本辆台座栋间家块片份次遍天周分秒点小时公里千吨元角毛倍杯瓶碗袋箱双"
    "对套口头匹艘架节站门排行步段篇句种类项批组队人"
)
"""Measure words before which a lone 2 is 两."""
CALL = re.compile(
    "(?:电话|手机|拨打|致电|热线|客服|号码|联系|短信|账号|卡号|编号|尾号|验证码|密码|QQ|微信|邮编|工号|学号|车牌|房间号|房号)[^，。；]{0,4}(?:\\d{3,}[，或和]{1,2})*$"
)


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


def _year(m: re.Match[str]) -> str:
    return say.digits(m[1]) + m[2]


def _date(m: re.Match[str]) -> str | None:
    year, month, day = m[1], int(m[2]), int(m[3])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{say.digits(year)}年{say.cardinal(month)}月{say.cardinal(day)}日"


def _time(m: re.Match[str]) -> str | None:
    hour, minute, second = int(m[1]), int(m[2]), m[3]
    if hour > 24 or minute > 59:
        return None
    said = ("两" if hour == 2 else say.cardinal(hour)) + "点"
    if minute:
        said += ("零" if minute < 10 else "") + say.cardinal(minute) + "分"
    elif not second:
        said += "整" if hour == 0 else ""
    return said + (f"{say.cardinal(int(second))}秒" if second else "")


def _half_day(m: re.Match[str]) -> str | None:
    """The like of "3pm", "9:30 am"."""
    said = _time(re.fullmatch(r"(\d{1,2})[:：](\d{2})()", f"{m[1]}:{m[2] or '00'}"))  # type: ignore[arg-type]
    return ("上午" if m[3] in "Aa" else "下午") + said if said else None


def _duration(m: re.Match[str]) -> str:
    seconds = f"{number(m[3])}秒" if m[3] else ""
    return f"{amount(m[1])}小时{number(m[2])}分{seconds or '钟'}"


def _degrees(m: re.Match[str]) -> str:
    """The like of 116°23′."""
    return f"{number(m[1])}度{number(m[2])}分" + (f"{number(m[3])}秒" if m[3] else "")


def _temperatures(m: re.Match[str]) -> str:
    """The like of -5~3°C: the scale is said once."""
    low, high = ("零下" * bool(m[sign]) + number(m[value]) for sign, value in ((1, 2), (3, 4)))
    return f"{low}到{high}{'华氏' if m[5] == 'F' else '摄氏' if m[5] else ''}度"


def _mixed_number(m: re.Match[str]) -> str:
    return f"{number(m[1])}又{_MARKS[m[2]]}"


def _roman(m: re.Match[str]) -> str:
    return say.cardinal(ROMAN.index(m.group()) + 1)


def _time_range(m: re.Match[str]) -> str | None:
    first, last = _time(m), TIME.fullmatch(m[4])
    said = _time(last) if last else None
    return f"{first}到{said}" if first and said else None


TIME = re.compile(r"(\d{1,2})[:：](\d{2})()")


def _money(m: re.Match[str]) -> str:
    scale, unit = m["scale"] or "", m["unit"]
    name = _CURRENCY[m["cur"]]
    return (
        number(m["num"].rstrip("0") if "." in m["num"] and m["num"].endswith("0") else m["num"]).rstrip("点")
        + scale
        + (unit or name)
    )


def _phone(m: re.Match[str]) -> str:
    return ("加" if m.group().startswith("+") else "") + say.digits(m.group(), "幺")


def _long_digits(m: re.Match[str]) -> str | None:
    text = m.group()
    if (len(text) == 11 and text[0] == "1") or (
        re.match("400|800|95|1[012][0-9]$", text) and CALL.search(m.string[: m.start()])
    ):
        return say.digits(text, "幺")
    if len(text) >= 9 or (CALL.search(m.string[: m.start()]) and len(text) > 2):
        return say.digits(text, "幺" if CALL.search(m.string[: m.start()]) else "一")
    return None


def _range(m: re.Match[str]) -> str:
    tail = m["tail"] or ""
    first, last = m["first"], m["last"]
    if tail.startswith("年") and len(first) == len(last) == 4:
        return f"{say.digits(first)}到{say.digits(last)}{tail}"
    join = "到"
    if tail in ("%", "％"):
        return f"百分之{number(first)}{join}百分之{number(last)}"
    return f"{number(first)}{join}{number(last)}{_UNITS.get(tail, tail)}"


def _score(m: re.Match[str]) -> str:
    return f"{say.cardinal(int(m[1]))}比{say.cardinal(int(m[2]))}"


def _unit(m: re.Match[str]) -> str:
    name = _UNITS[m["unit"]]
    per_hour = name.endswith("每小时") and m.string[: m.start()].endswith(
        ("时速", "限速", "速度", "车速", "每小时")
    )
    if per_hour:
        return (
            f"{number(m['num'])}{name.removesuffix('每小时')}"
            if m.string[: m.start()].endswith("每小时")
            else f"{number(m['num'])}{name}"
        )
    return f"{amount(m['num'])}{name}"


def _temperature(m: re.Match[str]) -> str:
    sign = "零下" if m[1] == "-" else ""
    kind = {"C": "摄氏", "F": "华氏"}.get(m[3] or "", "")
    return (
        f"{kind}{sign}{number(m[2])}度"
        if kind == "华氏"
        else f"{sign}{number(m[2])}{'摄氏' if kind else ''}度"
    )


def _fraction(m: re.Match[str]) -> str | None:
    top, bottom = int(m[1]), int(m[2])
    if not bottom or bottom > 100:
        return None
    return f"{say.cardinal(bottom)}分之{say.cardinal(top)}"


def _plate(m: re.Match[str]) -> str:
    return "".join(f" {c} " if c.isalpha() else say.digits(c) for c in m.group() if c.isalnum()).strip()


def _two(m: re.Match[str]) -> str | None:
    """两 before a measure word, but 二 in "第1、2名"."""
    return None if re.search("第[\\d、，]*$", m.string[: m.start()]) else "两"


def _version(m: re.Match[str]) -> str:
    parts = m.group().split(".")
    return "点".join(say.digits(part) if len(part) > 2 else say.cardinal(int(part)) for part in parts)


def _letters(m: re.Match[str]) -> str:
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


PER = "(?:小时|分|秒|天|日|月|年|周|次|人|公里|千米|米|升|毫升|公斤|千克|斤|吨|个|件|台|间|平|立方)"
TEMPERATURES = rf"(-?)({NUM})(?:\s?°\s?[CF]|度)?\s?[~—至到]\s?(-?)({NUM})\s?°\s?([CF]?)(?![A-Za-z])"
DIGIT_RULES = (
    rule("time", r"(\d{1,2})(?:[:：](\d{2}))?\s?([AaPp])\.?[Mm](?![A-Za-z])", _half_day),
    rule("duration", r"(\d+)\s?h\s?(\d{1,2})\s?m(?:in)?(?:\s?(\d{1,2})\s?s)?(?![A-Za-z])", _duration),
    rule("degrees", r"(\d+)\s?°\s?(\d{1,2})'(?:(\d{1,2})\")?", _degrees),
    rule("temperature", TEMPERATURES, _temperatures),
    rule("blood pressure", r"(\d{2,3})/(\d{2,3})\s?(?:mmHg|毫米汞柱)", lambda m: f"{_score(m)}毫米汞柱"),
    rule("subtraction", rf"({NUM})\s?-\s?({NUM})(?=\s?=)", lambda m: f"{number(m[1])}减{number(m[2])}"),
    rule("mixed number", r"(\d+)\s?([½¼¾⅓⅔])", _mixed_number),
    rule("date", r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", _date),
    rule("year", r"(\d{4}|\d{2}(?=年(?:代|\d{1,2}月)))(年)(?!前|后|来|间|以|内|多|的历史)", _year),
    rule("time range", r"(\d{1,2})[:：](\d{2})()\s?[-~—至到]+\s?(\d{1,2}[:：]\d{2})(?!\d)", _time_range),
    rule("time", r"(\d{1,2})[:：](\d{2})(?:[:：](\d{2}))?(?!\d)", _time),
    rule("score", r"(\d{1,3})[:：](\d{1,3})(?!\d)", _score),
    rule("phone", r"1\d{2}[- ]\d{4}[- ]\d{4}(?!\d)|0\d{2,3}-\d{7,8}(?!\d)", _phone),
    rule("phone", r"[48]00-\d{3,4}-\d{3,4}(?!\d)", _phone),
    rule(
        "range",
        r"(?P<first>\d+(?:\.\d+)?)[%％]?\s?[-~—～–]+\s?(?P<last>\d+(?:\.\d+)?)"
        rf"(?:\s?(?P<tail>%|％|(?:{UNIT})(?!\w)|[{MEASURES}月日号]))?(?![-\d])",
        _range,
    ),
    rule("percent", rf"({NUM})\s?[%％]", lambda m: f"百分之{number(m[1])}"),
    rule("permille", rf"({NUM})\s?‰", lambda m: f"千分之{number(m[1])}"),
    rule("temperature", rf"()({NUM})\s?°\s?([CF])?(?![A-Za-z])", _temperature),
    rule("unit", rf"(?P<num>{NUM})\s?(?P<unit>{UNIT})(?![A-Za-z0-9²³/])", _unit),
    rule("money", rf"(?P<num>{NUM})(?P<scale>{SCALE})\s?(?P<cur>{CURRENCY})(?P<unit>)(?!\w)", _money),
    rule("fraction", r"(\d{1,3})/(\d{1,3})(?![\d/])", _fraction),
    rule("room", r"(\d{3,4})(?=号?(?:房|室)|教室|办公室|会议室)", lambda m: say.digits(m[1])),
    rule("digits", r"\d{3,}(?![\d.,]*\d)", _long_digits),
    rule("code", r"\d+[A-Z]+\d*(?![a-z])", _letters),
    rule("version", r"\d+(?:\.\d+){2,}", _version),
    rule("measure", rf"2(?=[{TWO_OF}])", _two),
    rule("number", NUM, lambda m: number(m.group())),
)  # fmt: skip
SYMBOL_RULES = (
    rule("key", r"#号?(?=键)", lambda m: "井号"),
    rule("key", r"\*号?(?=键)", lambda m: "星号"),
    rule("temperature", TEMPERATURES, _temperatures),
    rule("per", rf"(?<=[{HAN_CLASS}])/(?={PER})", lambda m: "每"),
    rule("money", rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?P<scale>{SCALE})\s?(?P<unit>元|块)?", _money),
    rule("phone", r"\+\d{2,3}[- ]?\d{3}[- ]?\d{4}[- ]?\d{4}", _phone),
    rule("temperature", rf"(-)({NUM})\s?(?:°\s?([CF])?(?![A-Za-z])|度)", _temperature),
    rule("to", r"(?<=[日号天点分年月岁时%])\s?[-~—～–]+\s?(?=\d)", lambda m: "到"),
    rule("minus", rf"(?<![A-Za-z0-9)])-(?={NUM})", lambda m: "负"),
    rule("plus", r"\s?\+\s?", lambda m: "加"),
    rule("mark", r"~(?=\d)", lambda m: "大约"),
    *marks(2),
)  # fmt: skip
LETTER_RULES = (
    rule("plate", rf"(?<=[{PROVINCES}])[A-Z][·• ]?[A-Z0-9]{{5,6}}(?![A-Za-z0-9])", _plate),
    rule("roman", r"(?:XI{0,2}|IX|VI{0,3}|IV|V|I{1,3})(?=[级期型类度代章卷等])", _roman),
    *(r for r in EN_LETTER_RULES if r.name == "web"),
    rule(
        "money",
        rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?P<scale>{SCALE})\s?(?P<unit>元|块)?",
        _money,
    ),
    rule("code", r"[A-Z]{1,4}-?\d+(?:\.\d+)?[A-Z]{0,2}(?![a-z])", _letters),
    rule("unit", r"(?:km/h|m/s)", lambda m: _UNITS[m[0]]),
)
TOKEN = re.compile(r"[A-Za-zÀ-ɏ]+|\d|[^\w\s]", re.UNICODE)
ENGLISH = re.compile(rf"[A-Za-z][^{HAN_CLASS}，。！？；：]*[A-Za-z.!?]")
QUIET = frozenset(",.!?;:\"'()，。！？；：（）…— ")


def read(token: re.Match[str], text: str, last: int) -> tuple[int, str, str] | None:
    """(end, reading, rule) of what begins at the token, None where it stays as it is."""
    word, at = token.group(), token.start()
    if word[0].isdigit():
        return first_that_fits(DIGIT_RULES, text, at, last)
    if word[0].isalpha():
        return first_that_fits(LETTER_RULES, text, at, last)
    if word in QUIET and not (word == "—" and text[at + 1 : at + 2].isdigit()):
        return None
    return first_that_fits(SYMBOL_RULES, text, at, last)
