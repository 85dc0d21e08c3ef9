"""Any text at all: no exception, no hang, sound clauses, linear time."""

import time
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stonechat.text import Frontend

PIECES = st.sampled_from(
    [
        "你",
        "好",
        "一",
        "不",
        "了",
        "3",
        ".",
        ",",
        "，",
        "。",
        ":",
        "-",
        "/",
        "$",
        "¥",
        "%",
        "°",
        "@",
        "#",
        "&",
        "'",
        '"',
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        "a",
        "A",
        "St",
        "Dr",
        "I",
        "km",
        "12",
        "1998",
        "3.5",
        "é",
        "😀",
        "\n",
        "\u200b",
        "％",
        "：",
        "x²",
        "&amp;",
        "~",
        "+",
        "=",
    ]
)
ANY = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map("".join))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY)
def test_any_text(frontend: Frontend, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clauses = list(frontend.clauses(text))
        frontend.normalise(text)
    for clause in clauses:
        assert clause.ids[0] == clause.ids[-1] == 0
        assert 3 <= len(clause.ids) <= 400
        assert clause.words
        for word in clause.words:
            assert 0 <= word.start <= word.end <= len(text)
            assert 0 < word.first < word.last < len(clause.ids)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "好",
        "1",
        "1.",
        "a ",
        "$",
        "<a",
        "[x](/a",
        "A.",
        "ab-",
        "St. ",
        "一",
        "3.5km，",
        "😀",
        "x@y.",
        "I'm ",
        "1/2 ",
        "(",
        "...",
    ],
)
def test_linear_time(frontend: Frontend, unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * size)[:size]
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            list(frontend.clauses(text))
        return time.process_time() - began

    cost(100)
    assert cost(20_000) < 5 * cost(5_000) * 4 / 4 + 1.0
