"""Number words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stonechat.text import numbers_en, numbers_zh


@pytest.mark.parametrize(
    ("n", "en", "zh"),
    [
        (0, "zero", "零"),
        (12, "twelve", "十二"),
        (105, "one hundred five", "一百零五"),
        (110, "one hundred ten", "一百一十"),
        (1_001, "one thousand one", "一千零一"),
        (10_010, "ten thousand ten", "一万零一十"),
        (1_020_000, "one million twenty thousand", "一百零二万"),
        (100_000_005, "one hundred million five", "一亿零五"),
        (-3, "minus three", "负三"),
    ],
)
def test_cardinals(n: int, en: str, zh: str) -> None:
    assert numbers_en.cardinal(n) == en
    assert numbers_zh.cardinal(n) == zh


VALUES = {c: i for i, c in enumerate("零一二三四五六七八九")}


def value_zh(text: str) -> int:
    """Value of Chinese numerals, by another way than they are made."""
    total = section = digit = 0
    for char in text:
        if char in VALUES:
            digit = VALUES[char]
        elif char in "十百千":
            section += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[char]
            digit = 0
        else:
            scale = {"万": 10**4, "亿": 10**8}[char]
            total = (total + section + digit) * scale if char == "亿" else total + (section + digit) * scale
            section = digit = 0
    return total + section + digit


@given(st.integers(0, 10**12 - 1))
def test_chinese_numerals_keep_their_value(n: int) -> None:
    assert value_zh(numbers_zh.cardinal(n)) == n


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1908, "nineteen oh eight"),
        (2005, "two thousand five"),
        (2024, "twenty twenty-four"),
        (1900, "nineteen hundred"),
    ],
)
def test_years(n: int, said: str) -> None:
    assert numbers_en.year(n) == said


@pytest.mark.parametrize(
    ("n", "said"), [(1, "first"), (12, "twelfth"), (20, "twentieth"), (101, "one hundred first")]
)
def test_ordinals(n: int, said: str) -> None:
    assert numbers_en.ordinal(n) == said


@pytest.mark.parametrize(("text", "n"), [("IV", 4), ("VIII", 8), ("XLII", 42), ("XIX", 19)])
def test_roman(text: str, n: int) -> None:
    assert numbers_en.roman(text) == n
