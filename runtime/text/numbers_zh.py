"""Chinese number words."""

from __future__ import annotations

DIGITS = "零一二三四五六七八九"
PLACES = ["", "十", "百", "千"]
SCALES = ["", "万", "亿", "万亿"]


def digits(text: str, one: str = "一") -> str:
    """ "一三八": digit by digit; phone numbers say 幺 for 1."""
    return "".join(one if d == "1" else DIGITS[int(d)] for d in text if d.isdigit())


def _below_ten_thousand(n: int) -> str:
    out = ""
    gap = False
    for place in (3, 2, 1, 0):
        digit = n // 10**place % 10
        if not digit:
            gap = gap or bool(out)
            continue
        out += ("零" if gap else "") + DIGITS[digit] + PLACES[place]
        gap = False
    return out


def cardinal(n: int) -> str:
    """ "一百零二", "十二", "三万零五"; past 10**16 digit by digit."""
    if n < 0:
        return "负" + cardinal(-n)
    if n == 0:
        return "零"
    if n >= 10**16:
        return digits(str(n))
    out = ""
    for scale in range(len(SCALES) - 1, -1, -1):
        group = n // 10000**scale % 10000
        if group:
            gap = bool(out) and group < 1000
            out += ("零" if gap else "") + _below_ten_thousand(group) + SCALES[scale]
    return out[1:] if out.startswith("一十") else out


def decimal(text: str) -> str:
    """ "十二点五" from "12.5"; thousands commas are let through."""
    whole, _, fraction = text.replace(",", "").partition(".")
    words = cardinal(int(whole or "0"))
    return f"{words}点{digits(fraction)}" if fraction else words
