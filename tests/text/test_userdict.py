"""The user's dictionary and pronunciations in the text."""

import os
import warnings
from pathlib import Path

import pytest
from stonechat.errors import TextError
from stonechat.text import Frontend
from stonechat.text.notation import arpabet, ipa, pinyin

LINES = """# ours
重庆\tzhong4 qing4
Sharma\tSH AA1 R M AH0
NAS\tna4 si1
tomato\t/təˈmɑːtoʊ/
Nguyen\twin
Quinoa\tKEEN-wah
New York\tnˈujˈɔɹk
那斯\t/nɑs/
解\txie4
C++\tsee plus plus
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.tsv"
    path.write_text(LINES, "utf-8")
    return path


@pytest.fixture
def owned(own: Path) -> Frontend:
    return Frontend.load(lexicon=own)


def loaded(path: Path, lines: str) -> Frontend:
    path.write_text(lines, "utf-8")
    return Frontend.load(lexicon=path)


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("Sharma", "ʃˈɑɹmə."),
        ("买NAS", "mai↓ na↘sɨ→."),
        ("tomato", "təmˈɑtO."),
        ("Nguyen", "wˈɪn."),
        ("quinoa", "kˈinwɑ."),
        ("new york", "nˈujˈɔɹk."),
        ("那斯", "nɑs."),
        ("C++", "sˈi plˈʌs plˈʌs."),
    ],
)
def test_every_notation(owned: Frontend, text: str, symbols: str) -> None:
    assert owned.phonemes(text) == symbols


def test_chinese_words_are_read_and_segmented(owned: Frontend) -> None:
    assert owned.phonemes("去重庆路", format="pinyin") == "qu4 zhong4 qing4 lu4"


def test_a_character_is_overruled_only_where_it_is_a_word(owned: Frontend) -> None:
    assert owned.phonemes("解先生", format="pinyin") == "xie4 xian1 sheng5"
    assert owned.phonemes("解决", format="pinyin") == "jie3 jue2"


@pytest.mark.parametrize("text", ["Sharmas", "tomatoes", "xSharma", "Sharma2", "2Sharma", "éSharma"])
def test_parts_of_words_are_left_alone(owned: Frontend, frontend: Frontend, text: str) -> None:
    assert owned.phonemes(text) == frontend.phonemes(text)


def test_possessives(owned: Frontend) -> None:
    assert owned.phonemes("Sharma's house") == "ʃˈɑɹməz hˈWs."
    assert owned.normalise("Sharma's house") == "Sharma's house"


def test_spans_of_given_words(owned: Frontend) -> None:
    text = "买NAS，New York."
    words = [word for clause in owned.clauses(text) for word in clause.words]
    assert [text[word.start : word.end] for word in words] == ["买", "NAS", "New York"]


def test_reloaded_when_it_changes(own: Path, owned: Frontend) -> None:
    own.write_text("tomato\ttəmˈAtO\n", "utf-8")
    os.utime(own, ns=(1, 1))
    assert owned.phonemes("tomato") == "təmˈAtO."
    assert owned.phonemes("重庆", format="pinyin") == "chong2 qing4"


def test_replaced_file_of_same_size_and_time(own: Path, owned: Frontend, tmp_path: Path) -> None:
    status = own.stat()
    other = tmp_path / "new.tsv"
    other.write_text(LINES.replace("Nguyen\twin", "Nguyen\twen"), "utf-8")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(own)
    assert owned.phonemes("Nguyen") == "wˈɛn."


def test_unreadable_later_keeps_its_words_and_is_told_once(own: Path, owned: Frontend) -> None:
    own.unlink()
    with pytest.warns(UserWarning, match="stay as they were"):
        assert owned.phonemes("Nguyen") == "wˈɪn."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert owned.phonemes("Nguyen") == "wˈɪn."
    own.write_text("Nguyen\twen\n", "utf-8")
    assert owned.phonemes("Nguyen") == "wˈɛn."


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("no tab here", "a tab"),
        ("foo\t", "a tab"),
        ("\tfoo", "a tab"),
        ("foo\tblah5", "'blah5'"),
        ("foo\t/☃/", "'☃'"),
        ("foo\t123", "respelling"),
        ("foo\tB AA1 R9", "respelling"),
        ("foo\t的abc", "respelling"),
        ("x" * 101 + "\tfoo", "100 at most"),
    ],
)
def test_faulty_lines_are_named_and_skipped(own: Path, line: str, says: str) -> None:
    with pytest.warns(UserWarning, match=r"own.tsv, line 2: .*skipped") as caught:
        frontend = loaded(own, f"# first\n{line}\nbar\tB AA1 R\n")
    assert len(caught) == 1
    assert says in str(caught[0].message)
    assert frontend.phonemes("bar") == "bˈɑɹ."


def test_other_line_ends_and_marks(own: Path) -> None:
    frontend = loaded(own, "\ufeffbar\tB AA1 R\r\n\r\nbaz\tB AA1 Z\tan old column\r\n")
    assert frontend.phonemes("bar baz") == "bˈɑɹ bˈɑz."


def test_the_last_of_two_lines_counts(own: Path) -> None:
    frontend = loaded(own, "重庆\tzhong4 qing4\n重庆\tchong2 qing5\nbar\tB AA1 R\nBar\tB EH1 R\n")
    assert frontend.phonemes("重庆", format="pinyin") == "chong2 qing5"
    assert frontend.phonemes("bar") == "bˈɛɹ."


def test_many_words(own: Path) -> None:
    frontend = loaded(own, "".join(f"word{i}x\tB AA1 R\n" for i in range(20_000)))
    assert frontend.phonemes("word19999x") == "bˈɑɹ."


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00bar"])
def test_missing_or_foreign_file(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "none.tsv").write_bytes(content)
    with pytest.raises(TextError, match=r"user dictionary .*UTF-8"):
        Frontend.load(lexicon=tmp_path / "none.tsv")


@pytest.mark.parametrize(
    ("said", "symbols"),
    [("həˈloʊ", "həlˈO"), ("HH AH0 L OW1", "həlˈO"), ("ha1 lou2", "xa→lou↗"), ("ˈlʏsi", "lˈɪsi")],
)
def test_inline(frontend: Frontend, said: str, symbols: str) -> None:
    (clause,) = frontend.clauses(f"Say [Xyz](/{said}/) now.")
    assert clause.phonemes == f"sˈA {symbols} nˈW."
    assert clause.spoken == "Say Xyz now."


def test_inline_overrules_the_dictionary(owned: Frontend) -> None:
    assert owned.phonemes("[Sharma](/ʃˈɑm/)") == "ʃˈɑm."


def test_faulty_inline_is_read_without_it(frontend: Frontend) -> None:
    with pytest.warns(UserWarning, match="read without it"):
        assert frontend.phonemes("[left](/☃/)") == "lˈɛft."


def test_notations() -> None:
    assert arpabet("HH AH0 L OW1") == "həlˈO"
    assert arpabet("hello") is None
    assert ipa("tʃeɪndʒ") == "ʧAnʤ"
    assert ipa("ˈbʌtn̩ r ø ç ɑ̃") == "bˈʌtən ɹ ɜ h ɑn"
    assert ipa("na↘sɨ→") == "na↘sɨ→"
    assert pinyin("lü4 se4") == ["lv4", "se4"]
    assert pinyin("Wanr2 de0") == ["wan2", "r5", "de5"]
    assert pinyin("er2 r5") == ["er2", "r5"]
    assert pinyin("win") is None
    assert pinyin("ER1") is None


@pytest.mark.parametrize(
    ("written", "symbols"),
    [
        ("kee-noh-ah", "kˈinOɑ"),
        ("NOO-yen", "nˈujɛn"),
        ("kuh-NOO", "kənˈu"),
        ("shuh-vahn", "ʃˈʌvɑn"),
        ("nash vil", "nˈæʃ vˈɪl"),
        ("worcester", "wˈʊstəɹ"),
        ("那斯", "na↘sɨ→"),
    ],
)
def test_respellings(own: Path, written: str, symbols: str) -> None:
    assert loaded(own, f"foo\t{written}\n").phonemes("foo") == f"{symbols}."
