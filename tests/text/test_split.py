"""Sentences and clauses: where they end, how they sound there, and that a long text costs no memory."""

import gc
import itertools
import tracemalloc

import pytest
from stonechat.text import Frontend
from stonechat.text.split import LONGEST, spans


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in spans(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It is 3.5 km. Go on.", ["It is 3.5 km.", "Go on."]),
        ("他说：“走吧！”然后走了。", ["他说：“走吧！”", "然后走了。"]),
        ("太好了！👍🏽 明天见", ["太好了！👍🏽", "明天见"]),
        ("Dr. Lee. No. 5 is in St. Paul. Yes.", ["Dr. Lee.", "No. 5 is in St. Paul.", "Yes."]),
        ("v2.0.1 is out", ["v2.0.1 is out"]),
        ("真的吗？！好。", ["真的吗？！", "好。"]),
        ("One\n\n\nTwo", ["One", "Two"]),
        ("等等……好", ["等等……", "好"]),
    ],
)
def test_where_sentences_end(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_without_an_end_the_last_pause_is_taken_before_the_last_space() -> None:
    words = "word " * 60 + "here, " + "word " * 60
    first, *_ = sentences(words)
    assert first.endswith("here,")
    assert sentences("word " * 200)[0].endswith("word ")
    assert all(len(part) <= LONGEST for part in sentences("好" * 3000))
    assert "".join(sentences("好" * 3000)) == "好" * 3000


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Red, green; and blue: go!", ",;:!"),
        ("红、黄、蓝，好吗？", ",,,?"),
        ("Is it (really) so?", ",,?"),
        ("Really?! No...", "?."),
        ("嗯……好——走", ",,."),
        ("一行\n两行", ".."),
    ],
)
def test_punctuation_reaches_the_voice(frontend: Frontend, text: str, marks: str) -> None:
    assert "".join(c for c in frontend.phonemes(text) if c in ",;:.!?") == marks


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (
            "The committee formed last year to review the state of the old bridges across the northern half of the "
            "country has now published a long report of every cost and repair",
            ["The", "has"],
        ),
        (
            "我们公司去年在北方的几个主要城市里面新开了十二家规模比较大的门店并且已经和当地的企业签订了协议",
            ["我们", "并且"],
        ),
    ],
)
def test_a_clause_too_long_is_cut_before_a_phrase(frontend: Frontend, text: str, starts: list[str]) -> None:
    clauses = list(frontend.clauses(text))
    assert [clause.words[0].text for clause in clauses] == starts
    assert [clause.phonemes[-1] for clause in clauses] == [",", "."]


def test_the_first_clause_needs_little_of_the_text(frontend: Frontend) -> None:
    text = "Well, " + "we walked along the river, " * 100_000
    assert len(next(frontend.clauses(text)).ids) <= 70


@pytest.mark.parametrize(
    "unit", ["前方300米右转，进入中山路。", "It costs $500, Dr. Lee. ", "没有标点的文字", "line\n\n"]
)
def test_memory_is_flat(frontend: Frontend, unit: str) -> None:
    text = unit * (2_000_000 // len(unit))

    def peak(count: int) -> int:
        gc.collect()
        tracemalloc.reset_peak()
        base, _ = tracemalloc.get_traced_memory()
        for sentence in itertools.islice(frontend.sentences(text), count):
            for clause in frontend.pronounce(sentence):
                assert clause.words
        return tracemalloc.get_traced_memory()[1] - base

    tracemalloc.start()
    try:
        peak(20)
        few, many = peak(5), peak(60)
    finally:
        tracemalloc.stop()
    assert many < few + 200_000  # one sentence kept takes tens of kilobytes


@pytest.mark.slow
def test_many_sentences_of_two_megabytes(frontend: Frontend) -> None:
    text = "前方300米右转，进入中山路。Turn left. " * 75_000
    tracemalloc.start()
    try:
        count = sum(1 for _ in itertools.islice(frontend.sentences(text), 20_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 20_000
    assert peak < 300_000
