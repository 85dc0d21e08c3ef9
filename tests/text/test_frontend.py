"""Clauses: symbols, words, source spans, splitting, laziness."""

import warnings

import pytest
from stonechat.errors import OptionError, TextError
from stonechat.text import Frontend

NAVIGATION = "前方三百米右转，进入中山路。In three hundred meters, turn right."


def test_first_clause_of_the_readme(frontend: Frontend) -> None:
    chinese, english = frontend.clauses(NAVIGATION)
    assert (chinese.lang, english.lang) == ("zh", "en")
    assert chinese.text == "前方三百米右转，进入中山路。"
    assert english.phonemes == "ɪn θɹˈi hˈʌndɹəd mˈiTəɹz, tˈɜɹn ɹˈIt."


def test_ids_are_padded_symbols(frontend: Frontend) -> None:
    (clause,) = frontend.clauses("Turn left.")
    assert clause.ids == (0, *frontend.symbols.encode(clause.phonemes), 0)
    assert clause.phonemes == "tˈɜɹn lˈɛft."


def test_words_cover_their_symbols_and_source(frontend: Frontend) -> None:
    text = "  It costs $500, Dr. Lee."
    (clause,) = frontend.clauses(text)
    spans = {
        word.text: frontend.symbols.decode(bytes(clause.ids[word.first : word.last])) for word in clause.words
    }
    assert spans["costs"] == "kˈɔsts"
    assert [word.text for word in clause.words if word.text == "$500"] == ["$500"] * 3  # five hundred dollars
    assert all(text[word.start : word.end] == word.text for word in clause.words)
    assert all(word.first < word.last for word in clause.words)


@pytest.mark.parametrize(
    ("text", "ending"),
    [("走吧", "."), ("走吧？", "?"), ("走吧！", "!"), ("Go on", "."), ("Really?!", "?"), ("Well,", ",")],
)
def test_every_clause_ends_with_punctuation(frontend: Frontend, text: str, ending: str) -> None:
    (clause,) = frontend.clauses(text)
    assert clause.phonemes[-1] == ending


@pytest.mark.parametrize("text", ["", "   ", "...", "?!", "\n\n", "😀🚗", "。，、"])
def test_nothing_to_say_gives_no_clause(frontend: Frontend, text: str) -> None:
    assert list(frontend.clauses(text)) == []


def test_long_sentences_are_cut_and_the_first_clause_is_short(frontend: Frontend) -> None:
    text = "we walked along the river until the sun went down, " * 8
    clauses = list(frontend.clauses(text))
    assert len(clauses[0].ids) <= 70
    assert all(len(clause.ids) <= 152 for clause in clauses)
    assert " ".join(clause.text for clause in clauses) == text.strip()


def test_the_first_clause_does_not_wait_for_the_rest(frontend: Frontend) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the second sentence would warn
        assert next(frontend.clauses("First sentence. سلام")).text == "First sentence."


def test_two_halves_make_the_whole(frontend: Frontend) -> None:
    joined = [clause for s in frontend.sentences(NAVIGATION) for clause in frontend.pronounce(s)]
    assert joined == list(frontend.clauses(NAVIGATION))


def test_paragraphs_pause(frontend: Frontend) -> None:
    first, second = frontend.clauses("One.\n\nTwo.")
    assert first.pause_s > 0
    assert second.pause_s == 0


def test_unknown_script_warns_once(frontend: Frontend) -> None:
    with pytest.warns(UserWarning, match="no reading") as caught:
        list(frontend.clauses("سلام hello. שלום."))
    assert len(caught) == 1


def test_known_text_does_not_warn(frontend: Frontend) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(frontend.clauses("你好，𠮷野家 café naïve. 😀"))


def test_languages(frontend: Frontend) -> None:
    assert frontend.language("你好") == "zh"
    assert frontend.language("Hello") == "en"
    assert frontend.language("打开WiFi") == "mix"


def test_formats(frontend: Frontend) -> None:
    assert frontend.phonemes("你好", format="pinyin") == "ni2 hao3"
    assert frontend.phonemes("你好", format="pinyin", sandhi=False) == "ni3 hao3"
    assert frontend.phonemes("好", format="ids").split() == [
        "0",
        *map(str, frontend.symbols.encode("xau↓.")),
        "0",
    ]
    with pytest.raises(OptionError, match="ipa, pinyin or ids"):
        frontend.phonemes("好", format="sampa")


def test_missing_lexicons(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TextError, match="symbols"):
        Frontend.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is 3.5 km. Go on.", 2),
        ("Dr. Smith met Mr. Jones. They spoke.", 2),
        ("The U.S. is big.", 1),
        ("See e.g. the map.", 1),
        ("Main St. is closed.", 1),
        ("J. R. R. Tolkien wrote it.", 1),
        ("你好！吃了吗？走吧。", 3),
        ("一行\n两行", 2),
        ("http://x.y/z?q=1&r=2", 1),
        ("Wait... what?", 2),
    ],
)
def test_sentence_ends(frontend: Frontend, text: str, count: int) -> None:
    assert len(list(frontend.sentences(text))) == count
