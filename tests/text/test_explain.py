"""What made each span, and where each word's pronunciation comes from."""

import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stonechat.text import Explained, Frontend


def rules(found: list[Explained]) -> list[tuple[str, str, str]]:
    return [(e.source, e.spoken, e.rule) for e in found]


def test_every_span_of_the_source_is_accounted_for(frontend: Frontend) -> None:
    text = "It costs $500, Dr. Lee. **好** 😀 ＡＢ 五〇年"
    assert rules(list(frontend.explain_normalise(text))) == [
        ("It costs", "It costs", "as written"),
        ("$500", "five hundred dollars", "money"),
        (",", ",", "as written"),
        ("Dr.", "Doctor", "abbreviation"),
        ("Lee.", "Lee.", "as written"),
        ("**", "", "left out"),
        ("好", "好", "as written"),
        ("** 😀", "", "left out"),
        ("ＡＢ", "AB", "plain form"),
        ("五", "五", "as written"),
        ("〇", "零", "plain form"),
        ("年", "年", "as written"),
    ]


def test_given_pronunciations_are_named(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text("NAS\tna4 si1\n重庆\tzhong4 qing4\n", "utf-8")
    frontend = Frontend.load(lexicon=tmp_path / "own.tsv")
    text = "[Xyz](/wɪn/) 和 NAS，重庆"
    assert rules(list(frontend.explain_normalise(text)))[:3] == [
        ("[Xyz](/wɪn/)", "Xyz", "inline"),
        ("和", "和", "as written"),
        ("NAS", "NAS", "user dictionary"),
    ]
    words = {e.spoken: (e.source, e.phonemes, e.origin) for e in frontend.explain_phonemes(text)}
    assert words["Xyz"] == ("Xyz", "wɪn", "inline")
    assert words["NAS"] == ("NAS", "na↘sɨ→", "user dictionary")
    assert words["重庆"][2] == "user dictionary"


@pytest.mark.parametrize(
    ("text", "word", "origin"),
    [
        ("重庆", "重庆", "phrase with its own reading"),
        ("老虎", "老虎", "word list, third-tone sandhi"),
        ("一样", "一样", "word list, 一 sandhi"),
        ("不对", "不", "character, 不 sandhi"),
        ("我睡着了", "我", "character"),
        ("慢慢地走", "地", "polyphone rule"),
        ("the map", "the", "function word"),
        ("the map", "map", "lexicon 'map'"),
        ("He walked", "walked", "lexicon 'walk', inflected"),
        ("lead pipes", "lead", "word before or after it"),
        ("blorptastic", "blorptastic", "letter to sound"),
        ("XQZ", "X Q Z", "letter by letter"),
        ("A street, live", ",", "pause"),
    ],
)
def test_where_a_pronunciation_comes_from(frontend: Frontend, text: str, word: str, origin: str) -> None:
    assert {e.spoken: e.origin for e in frontend.explain_phonemes(text)}[word] == origin


def test_readings_by_use_name_the_tag(frontend: Frontend) -> None:
    (record,) = [e for e in frontend.explain_phonemes("Please record it.") if e.spoken == "record"]
    assert record.origin.startswith("lexicon 'record' as VB")


def test_what_is_explained_is_what_is_spoken(frontend: Frontend) -> None:
    text = "前方300米右转，进入中山路。In 300 m, turn right; HuggingFace's U.S. office."
    explained = list(frontend.explain_phonemes(text))
    words = [e for e in explained if e.origin != "pause"]
    spoken = [w for clause in frontend.clauses(text) for w in clause.words]
    assert [(e.start, e.end) for e in words] == [(w.start, w.end) for w in spoken]
    assert " ".join(e.pinyin for e in words) == frontend.phonemes(text, format="pinyin")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60) | st.text(alphabet="好一不3$.，aI's[](/w)*😀〇：5 \n", max_size=40))
def test_any_text_is_explained(frontend: Frontend, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spans = list(frontend.explain_normalise(text))
        words = list(frontend.explain_phonemes(text))
    assert all(text[e.start : e.end] == e.source for e in [*spans, *words])
    assert [e.start for e in spans] == sorted(e.start for e in spans)
    covered = {i for e in spans for i in range(e.start, e.end)}
    assert all(c.isspace() or i in covered for i, c in enumerate(text))
    assert all(e.rule for e in spans)
    assert all(e.origin for e in words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("太好了！👍👍", "太好了！拇指向上"),
        ("我❤️你", "我，红心，你"),
        ("See you 🇨🇳.", "See you, China."),
        ("**now**", "asterisk, now, asterisk"),
        ("# Title", "hash, Title"),
        ("snake_case", "snake, underscore, case"),
        ("☃", "snowman"),
        ("👩‍🚀👍🏽", "woman, rocket, thumbs up"),
        ("a_b@c.com costs #1", "A underscore B at C dot com costs number one"),
        ("say [Xyz](/wɪn/)", "say Xyz"),
    ],
)
def test_symbols_are_read_on_demand(frontend: Frontend, text: str, said: str) -> None:
    assert frontend.normalise(text, read_symbols=True).replace(" ,", ",") == said
    assert not any(e.rule == "left out" for e in frontend.explain_normalise("**", read_symbols=True))


@pytest.mark.parametrize("text", ["太好了！👍👍", "**now**", "# Title", "<b>now</b>"])
def test_symbols_are_left_out_otherwise(frontend: Frontend, text: str) -> None:
    assert frontend.normalise(text) in ("太好了！", "now", "Title")
