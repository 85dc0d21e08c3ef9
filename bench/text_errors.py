"""How far what was heard is from what was meant: Mandarin syllables and English words.

Both sides are normalised alike before they are compared, so a judge that writes digits, contractions or
British spelling is not held against the voice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple


class Errors(NamedTuple):
    """Edits (insertions, deletions, substitutions) against a reference of `length` tokens."""

    edits: int
    length: int

    @property
    def rate(self) -> float:
        """Edits per reference token; above 1 where much was inserted."""
        return self.edits / max(1, self.length)


def levenshtein(reference: Sequence[str], hypothesis: Sequence[str]) -> int:
    """Fewest insertions, deletions and substitutions from one token sequence to the other."""
    row = list(range(len(hypothesis) + 1))
    for i, wanted in enumerate(reference, 1):
        diagonal, row[0] = row[0], i
        for j, heard in enumerate(hypothesis, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (wanted != heard))
    return row[-1]


def _fewest(
    tokens: Callable[[str], list[str]], references: Sequence[str], hypotheses: Sequence[str]
) -> Errors:
    """The errors of the likeliest pair of readings: digits alone do not say how they were spoken."""
    pairs = [(tokens(reference), tokens(hypothesis)) for reference in references for hypothesis in hypotheses]
    found = [Errors(levenshtein(wanted, heard), len(wanted)) for wanted, heard in pairs]
    return min(found, key=lambda errors: errors.rate)


_HANZI_DIGITS = "零一二三四五六七八九"
_COUNTED = (
    "个位家条张次分钟小时天年公里米元块度楼层杯件本名辆座台点"  # after these 2 is 两, where nothing precedes
)


def zh_cardinal(number: int) -> str:
    """A number below 10**12 as it is read: 105 -> 一百零五, 12 -> 十二."""
    for unit, name in ((10**8, "亿"), (10**4, "万")):
        if number >= unit:
            high, low = divmod(number, unit)
            gap = "零" if 0 < low < unit // 10 else ""
            return zh_cardinal(high) + name + gap + (zh_cardinal(low) if low else "")
    for unit, name in ((1000, "千"), (100, "百"), (10, "十")):
        if number >= unit:
            high, low = divmod(number, unit)
            lead = "" if unit == 10 and high == 1 else _HANZI_DIGITS[high]
            gap = "零" if 0 < low < unit // 10 else ""
            tail = zh_cardinal(low) if low else ""
            return lead + name + gap + ("一" + tail if 10 <= low < 20 else tail)
    return _HANZI_DIGITS[number]


def _zh_digits(digits: str, one: str = "一") -> str:
    return "".join(_HANZI_DIGITS[int(digit)] for digit in digits).replace("一", one)


def _zh_number(match: re.Match[str]) -> str:
    whole, fraction, unit = match["whole"], match["fraction"], match["unit"]
    if unit == "年" and len(whole) == 4:
        return _zh_digits(whole) + unit
    read = zh_cardinal(int(whole)) if len(whole) < 12 else _zh_digits(whole)
    if fraction:
        read += "点" + _zh_digits(fraction)
    elif whole == "2" and unit and unit in _COUNTED:
        read = "两"
    return f"百分之{read}" if unit == "%" else read + (unit or "")


def zh_readings(text: str) -> list[str]:
    """Ways to read `text` aloud in Chinese characters: as numbers, digit by digit, and with 幺 for 1."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"(\d{1,2}):00(?!\d)", r"\1点", text)
    text = re.sub(r"(\d{1,2}):(\d\d)(?!\d)", r"\1点\2分", text)
    text = re.sub(r"(\d)\s*(?:℃|°C)", r"\1摄氏度", text)
    if not re.search(r"\d", text):
        return [text]
    numbers = re.sub(r"(?P<whole>\d+)(?:\.(?P<fraction>\d+))?(?P<unit>[%\u4e00-\u9fff])?", _zh_number, text)
    spelt = re.sub(r"\d+", lambda match: _zh_digits(match[0]), text)
    spelt_yao = re.sub(r"\d+", lambda match: _zh_digits(match[0], one="幺"), text)
    return [numbers, spelt, spelt_yao]


@cache
def _to_simplified() -> Callable[[str], str]:
    from opencc import OpenCC

    convert: Callable[[str], str] = OpenCC("t2s").convert
    return convert


def zh_syllables(text: str) -> list[str]:
    """Toneless pinyin of the Chinese in `text`; Latin words stay, lower-cased, a token each.

    Traditional characters become simplified first: only for those are words, and so polyphones, read alike.
    """
    from pypinyin import Style, lazy_pinyin

    text = re.sub(r"(?<=[\u3400-\u9fff])[\W_]+(?=[\u3400-\u9fff])", "", _to_simplified()(text))
    runs = re.findall(r"[\u3400-\u9fff]+|[A-Za-z][A-Za-z']*", text)
    spoken = [lazy_pinyin(run, style=Style.NORMAL) if run[0] > "z" else [run.lower()] for run in runs]
    return [syllable for run in spoken for syllable in run]


def zh_syllable_error(ref_text: str, hyp_text: str) -> Errors:
    """Edits between the toneless pinyin of both texts, digits read as Chinese on both sides."""
    return _fewest(zh_syllables, zh_readings(ref_text), zh_readings(hyp_text))


_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
_WORDS = {  # one spelling for words that have several
    "ok": "okay", "mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "vs": "versus",
    "metres": "meters", "metre": "meter", "kilometres": "kilometers", "kilometre": "kilometer",
    "km": "kilometers", "centre": "center", "theatre": "theater", "colour": "color", "favourite": "favorite",
    "neighbour": "neighbor", "travelling": "traveling", "cancelled": "canceled", "programme": "program",
    "cheque": "check", "tyre": "tire", "gray": "grey", "gonna": "going to", "wanna": "want to",
    "alright": "all right", "cannot": "can not",
}  # fmt: skip
_CONTRACTIONS = (
    (r"\bwon't\b", "will not"), (r"\bcan't\b", "can not"), (r"\blet's\b", "let us"), (r"n't\b", " not"),
    (r"'ll\b", " will"), (r"'re\b", " are"), (r"'ve\b", " have"), (r"'m\b", " am"), (r"'d\b", " would"),
    (r"\b(it|that|there|here|what|where|who|he|she|how)'s\b", r"\1 is"),
)  # fmt: skip


def en_cardinal(number: int) -> str:
    """A number below 10**12 in words, without "and": 105 -> one hundred five."""
    scales = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
    for unit, name in scales:
        if number >= unit:
            high, low = divmod(number, unit)
            return f"{en_cardinal(high)} {name}" + (f" {en_cardinal(low)}" if low else "")
    if number < 20:
        return _ONES[number]
    return _TENS[number // 10] + (f" {_ONES[number % 10]}" if number % 10 else "")


def en_ordinal(number: int) -> str:
    """21 -> twenty first."""
    *head, last = en_cardinal(number).split()
    regular = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return " ".join([*head, _ORDINALS.get(last, regular)])


def _en_pairs(digits: str) -> str:
    """Four digits read as a year: 1984 -> nineteen eighty four, 1905 -> nineteen oh five."""
    high, low = int(digits[:2]), int(digits[2:])
    tail = "hundred" if low == 0 else f"oh {_ONES[low]}" if low < 10 else en_cardinal(low)
    return f"{en_cardinal(high)} {tail}"


def _en_number(match: re.Match[str]) -> str:
    digits, fraction = match["whole"], match["fraction"]
    read = en_cardinal(int(digits)) if len(digits) < 12 else " ".join(_ONES[int(digit)] for digit in digits)
    return read + (" point " + " ".join(_ONES[int(digit)] for digit in fraction) if fraction else "")


def en_readings(text: str) -> list[str]:
    """Ways to read `text` in words: its numbers as quantities, as years and digit by digit."""
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"\$(\d+(?:\.\d+)?)", r"\1 dollars", text).replace("%", " percent")
    text = re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", lambda match: en_ordinal(int(match[1])), text)
    text = re.sub(r"\b(\d{1,2}):00\b", r"\1 o'clock", text)
    text = re.sub(r"\b(\d{1,2}):(\d\d)\b", r"\1 \2", text)
    if not re.search(r"\d", text):
        return [text]
    years = re.sub(r"\b\d{4}\b", lambda match: _en_pairs(match[0]), text)
    spelt = re.sub(r"\d", lambda match: f" {_ONES[int(match[0])]} ", text)
    number = re.compile(r"(?P<whole>\d+)(?:\.(?P<fraction>\d+))?")
    return [number.sub(_en_number, reading) for reading in (text, years, spelt)]


def en_words(text: str) -> list[str]:
    """Lower-case words without punctuation; contractions written out, one spelling a word."""
    for pattern, written in _CONTRACTIONS:
        text = re.sub(pattern, written, text)
    text = re.sub(r"\b(hundred|thousand) and\b", r"\1", text)
    text = re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", text)
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.replace("o'clock", "oclock"))
    return " ".join(_WORDS.get(word, word.replace("'", "")) for word in words).split()


def en_word_error(ref_text: str, hyp_text: str) -> Errors:
    """Edits between the normalised words of both texts."""
    return _fewest(en_words, en_readings(ref_text), en_readings(hyp_text))
