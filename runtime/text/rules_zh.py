"""The patterns of Chinese normalisation, in the order they are tried (what they say: readings_zh.py)."""

from __future__ import annotations

import re

from . import numbers_zh as say
from . import readings_zh as read
from .readings_zh import CURRENCY as CURRENCIES
from .readings_zh import MEASURES, UNITS, number
from .rules import rule
from .rules_en import marks
from .rules_en_words import LETTER_RULES as EN_LETTER_RULES
from .scripts import HAN_CLASS

NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
SIMPLE_UNIT = "|".join(sorted((u for u in UNITS if u.isalpha()), key=len, reverse=True))
CURRENCY = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
"""The characters that licence plates begin with."""
SCALE = "(?:[万亿千百十]{1,2}|[kKwW](?![A-Za-z]))?"
MEASURE = "|".join(sorted(MEASURES, key=len, reverse=True))
PER = (
    "(?:小时|分钟?|秒|天|日|月|年|周|次|人|公里|千米|米|平方米|平米|升|毫升|公斤|千克|斤|吨|个|件|台|间|平|立方米?|片|粒|"
    "瓶|盒|袋|张|晚|夜|位|份|本|杯|套|组|股|户|度|株|亩|课时|节|场|包|箱|盘|只|辆|支)"
)
DASH = r"\s?[-~—–]+\s?"
TEMPERATURES = rf"(-?)({NUM})(?:\s?°\s?[CF]|度)?\s?(?:[~—至到]|-(?=\d))\s?(-?)({NUM})\s?(?:°\s?([CF]?)(?![A-Za-z])|度(?!假|过))"
ROMANS = r"(?:XI{0,2}|IX|VI{0,3}|IV|V|I{1,3})"
DIGIT_RULES = (
    rule("sum", rf"(?:{NUM})(?:\s?[-–+×x*÷/]\s?(?:{NUM}))+(?=\s?[=≈])", read.sum_of),
    rule("time", r"(\d{1,2})(?:[:：](\d{2}))?\s?([AaPp])\.?[Mm](?![A-Za-z])", read.half_day),
    rule("duration", r"(\d+)\s?h\s?(\d{1,2})\s?m(?:in)?(?:\s?(\d{1,2})\s?s)?(?![A-Za-z])", read.duration),
    rule("duration", r"(\d{1,3})'\s?(\d{1,2})(?:\"|''|”)", lambda m: f"{read.amount(m[1])}分{number(m[2])}秒"),
    rule("degrees", r"(\d+)\s?°\s?(\d{1,2})'(?:(\d{1,2})\")?", read.degrees),
    rule("temperature", TEMPERATURES, read.temperatures),
    rule("blood pressure", r"(\d{2,3})/(\d{2,3})\s?(?:mmHg|毫米汞柱)", lambda m: f"{read.score(m)}毫米汞柱"),
    rule("blood pressure", r"(?<=血压)(\d{2,3})/(\d{2,3})", read.score),
    rule("power", r"(\d+)(?:([²³])|\^(-?\d+))", read.power),
    rule("mixed number", r"(\d+)\s?([½¼¾⅓⅔⅛])", read.mixed_number),
    rule("date", r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", read.date),
    rule("year", r"(\d{4}|\d{2})年", read.year),
    rule("class", r"((?:19|20)\d\d)(?=[级届])", lambda m: say.digits(m[1])),
    rule("decade", r"([0-9][05])(?=后(?![来天续面的方期]))(?<!\d\d\d)", lambda m: say.digits(m[1])),
    rule("time range", rf"(\d{{1,2}})[:：](\d{{2}})()(?:{DASH}|\s?[至到]\s?)(\d{{1,2}}[:：]\d{{2}})(?!\d)", read.time_range),
    rule("time", r"(\d{1,2})[:：](\d{2})(?:[:：](\d{2}))?(?!\d)", read.time),
    rule("score", r"(\d{1,4})\s?[:：]\s?(\d{1,9})(?!\d)", read.score),
    rule("phone", r"1\d{2}[- ]\d{4}[- ]\d{4}(?!\d)|0\d{2,3}[- ]\d{7,8}(?!\d)", read.phone),
    rule("phone", r"[48]00[- ]\d{3,4}[- ]\d{3,4}(?!\d)", read.phone),
    rule("code", r"\d+(?:-\d+){2,}(?![-\d])", read.code),
    rule("model", r"\d{2,4}(?![\d.,]*\d)", read.model),
    rule(
        "range",
        rf"(?P<first>\d+(?:\.\d+)?)(?:%|(?P<kilo>[kKwW])(?=[^A-Za-z]*(?P=kilo)))?{DASH}(?P<last>\d+(?:\.\d+)?)"
        rf"(?:\s?(?P<tail>%|(?:{UNIT})(?![\w²³/])|(?:{MEASURE})|[月日号楼kKwW千百](?![A-Za-z])))?(?![-\d])",
        read.span,
    ),
    rule("percent", rf"({NUM})\s?%", lambda m: f"百分之{number(m[1])}"),
    rule("permille", rf"({NUM})\s?‰", lambda m: f"千分之{number(m[1])}"),
    rule("temperature", rf"()({NUM})\s?°\s?([CF])?(?![A-Za-z])", read.temperature),
    rule("unit", rf"(?P<num>{NUM})\s?(?P<unit>{UNIT})(?![A-Za-z0-9²³/])", read.unit),
    rule("rate", rf"({NUM})\s?({SIMPLE_UNIT})/({NUM})\s?({SIMPLE_UNIT})(?![A-Za-z])", read.rate_of),
    rule("rate", rf"(?P<num>{NUM})\s?(?P<unit>{SIMPLE_UNIT})/(?P<per>{PER}|{SIMPLE_UNIT})(?![A-Za-z])", read.rate),
    rule("money", rf"(?P<num>{NUM})(?P<scale>{SCALE})\s?(?P<cur>{CURRENCY})(?P<unit>)(?![A-Za-z0-9])", read.money),
    rule("money", r"(\d+)\.0{1,2}(?=元)", read.yuan),
    rule("fraction", r"(\d{1,4})/(\d{1,4})(?![\d/])", read.fraction),
    rule("road", r"(\d{3})(?=国道|省道|县道)", lambda m: say.digits(m[1])),
    rule("room", r"(?<=[座栋幢])(\d{3,4})(?![\d.,个])", lambda m: say.digits(m[1])),
    rule("room", r"(\d{3,4})(?![\d.,])", lambda m: say.digits(m[1]) if read.precedes(m, "room") else None),
    rule("digits", r"\d{3,}(?![\d.,]*\d)", read.long_digits),
    rule("code", r"\d+[A-Z]+\d*(?![a-z])", read.letters),
    rule("version", r"\d+(?:\.\d+){2,}", read.version),
    rule("measure", rf"2(?=({MEASURE}))", read.two),
    rule("number", NUM, lambda m: number(m.group())),
)  # fmt: skip
SYMBOL_RULES = (
    rule("key", r"#号?(?=键)", lambda m: "井号"),
    rule("key", r"\*号?(?=键)", lambda m: "星号"),
    rule("temperature", TEMPERATURES, read.temperatures),
    rule("per", rf"/(?=({PER}))(?<=[\d{HAN_CLASS}]/)", lambda m: "每"),
    rule("per", rf"(?<=[\d{HAN_CLASS}])/(m[²2]|{SIMPLE_UNIT})(?![\w/])", lambda m: f"每{UNITS[m[1]]}"),
    rule(
        "money",
        rf"(?P<cur>{CURRENCY})\s?(?P<first>{NUM}){DASH}(?:{CURRENCY})?(?P<num>{NUM})(?P<scale>{SCALE})\s?(?P<unit>元|块)?",
        read.money_range,
    ),
    rule("money", rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?P<scale>{SCALE})\s?(?P<unit>元|块)?", read.money),
    rule("money", rf"-(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?P<scale>)(?P<unit>)", lambda m: "负" + read.money(m)),
    rule("money", rf"(?P<cur>{CURRENCY})-(?P<num>{NUM})(?P<scale>)(?P<unit>)", lambda m: "负" + read.money(m)),
    rule("phone", r"\+\d{2,3}[- ]?\d{3,4}[- ]?\d{4}(?:[- ]?\d{4})?(?!\d)|\(0\d{2,3}\) ?\d{7,8}", read.phone),
    rule("phone", r"（0\d{2,3}） ?\d{7,8}", read.phone),
    rule("year", r"'(\d\d)(?=年|届|级)", lambda m: say.digits(m[1])),
    rule("temperature", rf"(-)({NUM})\s?(?:°\s?([CF])?(?![A-Za-z])|度)", read.temperature),
    rule("model", r"-\d{1,4}(?!\d|[.%°])", read.model),
    rule("arrow", r"\s?[-=]+>\s?", lambda m: "到"),
    rule("to", rf"(?<=\d[日号天点分年月岁时%楼章个元]){DASH}(?=\d)", lambda m: "到"),
    rule("to", r"[~—–-](?=周[一二三四五六日]|星期[一二三四五六日])(?<=[一二三四五六日][~—–-])", lambda m: "到"),
    rule("minus", rf"(?<![A-Za-z0-9)])-(?={NUM})", lambda m: "负"),
    rule("minus", rf"(?<==)\s?-(?={NUM})", lambda m: "负"),
    rule("comparison", r"\s?(?:>=|≥)\s?", lambda m: "大于等于"),
    rule("comparison", r"\s?(?:<=|≤)\s?", lambda m: "小于等于"),
    rule("comparison", r"\s?!==?\s?", lambda m: "不等于" if m.group().strip() else None),
    rule("more", rf"\+(?=[{HAN_CLASS}])(?<=\d\+)(?!\+)", lambda m: "多"),
    rule("plus", r"\s?\+\s?", lambda m: "加"),
    rule("root", r"√\s?(?=\d)", lambda m: "根号"),
    rule("mark", r"[~～](?=\d)", lambda m: "" if m.string[: m.start()].endswith("约") else "大约"),
    *marks(2),
)  # fmt: skip
LETTER_RULES = (
    rule("plate", rf"(?<=[{PROVINCES}])[A-Z][·• ]?[A-Z0-9]{{5,6}}(?![A-Za-z0-9])", read.plate),
    rule("roman", ROMANS + "(?=[级期型类度代章卷等届世部集季册])", read.roman),
    rule("power", r"([a-z])(?:\^(\d+)|([²³]))", lambda m: f"{m[1]}的{number(m[2] or {'²': '2', '³': '3'}[m[3]])}次方"),
    *(r for r in EN_LETTER_RULES if r.name in ("web", "file", "number", "plus plus", "sharp", "path")),
    rule("money", rf"(?P<cur>{CURRENCY})\s?(?P<num>{NUM})(?P<scale>{SCALE})\s?(?P<unit>元|块)?", read.money),
    rule("letters", r"([A-Z])\s?[-~～—–]\s?([A-Z])(?![A-Za-z-])(?<![A-Z]{2}.[A-Z])", lambda m: f"{m[1]}到{m[2]}"),
    rule("number", rf"N[Oo]\.\s?({NUM})", lambda m: f"第{number(m[1])}"),
    rule("code", r"[A-Z]{1,4}-?\d+(?:\.\d+)?[A-Z]{0,2}(?![a-z])", read.letters),
    rule("unit", r"(?:km/h|m/s)", lambda m: UNITS[m[0]]),
)  # fmt: skip
