"""Any text at all: no exception, no hang, sound clauses, linear time."""

import sys
import time
import warnings
from types import FrameType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from stonechat.text import Frontend

UNITS = (
    "你", "好", "一", "不", "了", "儿", "3", ".", ",", "，", "。", ":", "-", "/", "$", "¥", "%", "°", "@", "#", "&",
    "'", '"', "(", ")", "[", "]", "<", ">", "{", "}", "`", "*", "_", "\\", "|", "^", "a", "A", "St", "Dr", "I",
    "km", "12", "1998", "3.5", "é", "😀", "\n", "\r", "\u200b", "％", "：", "x²", "&amp;", "~", "+", "=", "IV",
    "No.", "a.m.", "https://", "www.", ".com", "½", "①", "㊙", "ﬁ", "々", "〇", "№", "…", "—", "「", "」", "½", "٣",
    "१", "\x00", "\x07", "\x1b[31m", "\x85", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe", "\U0010ffff",
    "\ud800", "\udfff", "\u0301", "\u0329", "\u20e3", "\ufe0f", "\u200d", "\u200e", "\u202e", "\u2066",
    "\u00ad", "\U0001f1e8", "\U0001f3fd", "سلام", "שלום", "नमस्ते", "한국", "かな", "ไทย", "𝐀", "𝟜", "𠮷", "\ue000",
    "\uf8ff", "[x](/w/)", "[x](http://y)", "<b>",
)  # fmt: skip
NASTY = st.lists(st.sampled_from(UNITS), max_size=30).map("".join)
NUMBERS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+", "$", "¥", "第", "No. ", "'", "."]),
    st.integers(0, 10**400) | st.text("0123456789,.:/-", max_size=60),
    st.sampled_from(
        ["", "%", "°C", "km/h", "年", "月", "元", "th", "st", "s", "e9", "/2", ":30", "万", "个"]
    ),
    st.sampled_from(["", " am", "。", "-5", "~9", "号", " p.m.", "\n"]),
)
WHOLE_UNICODE = st.text(
    st.characters(exclude_categories=()), max_size=80
)  # surrogates and unassigned ones too
ANY = WHOLE_UNICODE | NASTY | NUMBERS | st.lists(WHOLE_UNICODE | NASTY | NUMBERS, max_size=4).map(" ".join)
QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check(frontend: Frontend, text: str, read_symbols: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clauses = list(frontend.clauses(text, read_symbols))
        spoken = frontend.normalise(text, read_symbols)
        for format in ("ipa", "pinyin", "ids"):
            frontend.phonemes(text, format=format)
    assert "\n" not in spoken
    for clause in clauses:
        assert clause.ids[0] == clause.ids[-1] == 0
        assert 3 <= len(clause.ids) <= 256  # what a slot holds (MAX_PHONEMES)
        assert clause.words
        for word in clause.words:
            assert 0 <= word.start <= word.end <= len(text)
            assert 0 < word.first < word.last < len(clause.ids)


@settings(QUIET, max_examples=250)
@given(text=ANY, read_symbols=st.booleans())
@example("1" * 4000, False)
@example("[" * 500 + "](/" * 500, False)
@example("a" + "\u0301" * 1000, False)
@example("\ud83d\ude00", True)
@example("\U0001f1e8", True)
@example("\ue000\uf8ff[a](/b/)\ue000", False)
def test_any_text(frontend: Frontend, text: str, read_symbols: bool) -> None:
    check(frontend, text, read_symbols)


def test_every_character_alone_and_between_words(frontend: Frontend) -> None:
    for first in range(0, 0x110000, 0x1000):
        block = "".join(map(chr, range(first, first + 0x1000, 0x11)))
        check(frontend, block, False)
    for code in [*range(0x250), *range(0x2000, 0x2100), *range(0x3000, 0x3100), 0xD800, 0xFFFF]:
        check(frontend, f"a{chr(code)}b 好{chr(code)}3", False)


SLOW = (
    "a", "好", "1", "1.", "a ", "$", "<a", "[x](/a", "A.", "ab-", "St. ", "一", "3.5km，", "😀", "x@y.", "I'm ",
    "1/2 ", "(", "...", "\n", " ", "س", "a\u0301", "a\u200d", "https://a.", "a'", "aB1", "-1", "1:", "1,", "**",
    "__", "[", "](", "<!--", "&amp;", "“", "第", "年", "II ", "AB ", "不一", "我们今天一起去北京", "\x00", "\ud800",
    "~", "=>", "a_", "No.",
)  # fmt: skip


@pytest.mark.parametrize("unit", SLOW, ids=ascii)
def test_work_is_linear(unit: str) -> None:
    """Calls are counted, not timed: twice the text, about twice the calls."""

    def calls(size: int) -> int:
        count = 0

        def profile(frame: FrameType, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        text = (unit * size)[:size]
        fresh = Frontend.load()  # nothing remembered
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = sys.getprofile()
            sys.setprofile(profile)
            try:
                list(fresh.clauses(text))
            finally:
                sys.setprofile(before)
        return count

    calls(100)
    assert calls(2400) <= 2.4 * calls(1200) + 500


@pytest.mark.slow
@pytest.mark.parametrize("unit", SLOW, ids=ascii)
def test_linear_time(frontend: Frontend, unit: str) -> None:
    """The regular expressions' time as well, which no count of calls shows."""

    def cost(size: int) -> float:
        text = (unit * size)[:size]
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            list(frontend.clauses(text))
        return time.process_time() - began

    cost(100)
    assert cost(40_000) < 4 * 2.5 * cost(10_000) + 1.0
