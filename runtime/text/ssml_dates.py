"""Dates, times of day and durations that SSML's `say-as` asks for, in English and in Chinese words."""

from __future__ import annotations

import re

from . import numbers_en, numbers_zh
from .dates_en import MONTHS

Said = tuple[str, str]
"""English and Chinese words."""
ORDERS = {"y": "year", "m": "month", "d": "day"}
CHINESE_DATE = {"year": "年", "month": "月", "day": "日"}


def date(text: str, format: str) -> Said | None:
    """A date by its format (mdy, dmy, ymd, md, dm, ym, my, d, m, y, yyyymmdd …); without one, by where its year is."""
    order = re.sub(r"(.)\1+", r"\1", re.sub("[^ymd]", "", format.lower()))
    fields = re.findall(r"\d+|[A-Za-z]{3,}", text)
    if not order and len(fields) == 3:
        order = "ymd" if len(fields[0]) == 4 else "mdy" if len(fields[2]) == 4 else ""
    if len(fields) == 1 and len(order) > 1 and fields[0].isdecimal():
        fields = _packed(fields[0], order)
    if not order or len(set(order)) != len(order) or len(fields) != len(order):
        return None
    found = {ORDERS[key]: _date_field(key, text) for key, text in zip(order, fields, strict=True)}
    return None if None in found.values() else _date({k: v for k, v in found.items() if v is not None})


def _packed(text: str, order: str) -> list[str]:
    """Fields of the like of "20240131": a year has what two digits for each other field leave."""
    sizes = [len(text) - 2 * (len(order) - 1) if key == "y" else 2 for key in order]
    if "y" not in order and sum(sizes) != len(text):
        return []
    fields, at = [], 0
    for size in sizes:
        fields.append(text[at : at + max(size, 0)])
        at += max(size, 0)
    return fields


def _date_field(key: str, text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        names = [i for i, name in enumerate(MONTHS, 1) if name.lower().startswith(text[:3].lower())]
        return names[0] if key == "m" and names else None
    value = int(text[:9])
    if key == "y" and len(text) == 2:
        return value + (1900 if value > 50 else 2000)
    return value if {"y": value < 10_000, "m": 1 <= value <= 12, "d": 1 <= value <= 31}[key] else None


def _date(found: dict[str, int]) -> Said:
    year, month, day = (found.get(name) for name in ("year", "month", "day"))
    parts = [MONTHS[month - 1] if month else "", numbers_en.ordinal(day) if day else ""]
    english = " ".join(filter(None, parts))
    if year is not None:
        english = ", ".join(filter(None, [english, numbers_en.year(year)])) if day else (
            " ".join(filter(None, [english, numbers_en.year(year)]))
        )  # fmt: skip
    chinese = numbers_zh.digits(str(year)) + "年" if year is not None else ""
    chinese += numbers_zh.cardinal(month) + "月" if month else ""
    return english, chinese + (numbers_zh.cardinal(day) + "日" if day else "")


CLOCK = re.compile(r"(\d{1,2})(?:[:.h](\d{1,2}))?(?:[:.m](\d{1,2}))?s?\s*([AaPp]\.?[Mm]\.?)?")
LASTING = re.compile(r"(?:(\d{1,4})[:hH°])?(\d{1,4})[:mM'′](?:(\d{1,2})[sS\"″]?)?")


def time(text: str) -> Said | None:
    """A time of day ("2:30pm", "14:30"), or by minutes and seconds (1'21")."""
    text = text.strip()
    if re.search("['′]", text):
        return duration(text)
    match = CLOCK.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = (int(match[i] or 0) for i in (1, 2, 3))
    if hour > 24 or minute > 59 or second > 59:
        return None
    half = match[4][0].upper() + " M" if match[4] else ""
    return _clock_en(hour, minute, second, half), _clock_zh(hour, minute, second, half)


def _clock_en(hour: int, minute: int, second: int, half: str) -> str:
    out = numbers_en.cardinal(hour)
    if minute or second:
        out += (" oh " if minute < 10 else " ") + numbers_en.cardinal(minute)
    elif not half:
        out += " o'clock" if 0 < hour < 13 else " hundred hours"
    out += f" and {_counted(second, 'second')}" if second else ""
    return f"{out} {half}" if half else out


def _clock_zh(hour: int, minute: int, second: int, half: str) -> str:
    out = ("两" if hour == 2 else numbers_zh.cardinal(hour)) + "点"
    if minute or second:
        out += ("零" if 0 < minute < 10 else "") + numbers_zh.cardinal(minute) + "分"
    else:
        out += "" if half else "整"
    out += numbers_zh.cardinal(second) + "秒" if second else ""
    return ("上午" if half[:1] == "A" else "下午" if half else "") + out


def duration(text: str) -> Said | None:
    """How long: "1:30:05", "5:30" (minutes and seconds), 1'21"."""
    match = LASTING.fullmatch(text.strip())
    if match is None:
        return None
    counts = [int(match[i] or 0) for i in (1, 2, 3)]
    english = [_counted(n, name) for n, name in zip(counts, ("hour", "minute", "second"), strict=True) if n]
    chinese = [
        ("两" if n == 2 else numbers_zh.cardinal(n)) + name
        for n, name in zip(counts, ("小时", "分钟", "秒"), strict=True)
        if n
    ]
    return (" ".join(english), "".join(chinese)) if english else (_counted(0, "second"), "零秒")


def _counted(n: int, name: str) -> str:
    return f"{numbers_en.cardinal(n)} {name}{'' if n == 1 else 's'}"
