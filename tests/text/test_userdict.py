"""The user's dictionary and pronunciations in the text."""

import os
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
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.tsv"
    path.write_text(LINES, "utf-8")
    return path


def test_every_notation(own: Path) -> None:
    frontend = Frontend.load(lexicon=own)
    assert frontend.phonemes("重庆", format="pinyin") == "zhong4 qing4"
    assert frontend.phonemes("Sharma") == "ʃˈɑɹmə."
    assert frontend.phonemes("买NAS").startswith("mai↓ na↘sɨ→")
    assert frontend.phonemes("tomato") == "təmˈɑtO."
    assert frontend.phonemes("Nguyen") == "wˈɪn."


def test_reloaded_when_it_changes(own: Path) -> None:
    frontend = Frontend.load(lexicon=own)
    own.write_text("tomato\ttəmˈAtO\n", "utf-8")
    os.utime(own, ns=(1, 1))
    assert frontend.phonemes("tomato") == "təmˈAtO."
    assert frontend.phonemes("重庆", format="pinyin") == "chong2 qing4"


def test_faulty_lines_are_named_and_skipped(own: Path) -> None:
    own.write_text("no tab here\nfoo\tblah5\nbar\tB AA1 R\n", "utf-8")
    with pytest.warns(UserWarning, match="line [12]") as caught:
        frontend = Frontend.load(lexicon=own)
    assert len(caught) == 2
    assert frontend.phonemes("bar") == "bˈɑɹ."


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="user dictionary"):
        Frontend.load(lexicon=tmp_path / "none.tsv")


def test_inline(frontend: Frontend) -> None:
    (clause,) = frontend.clauses("Say [Xyz](/həˈloʊ/) now.")
    assert clause.phonemes == "sˈA həlˈO nˈW."
    assert clause.spoken == "Say Xyz now."


def test_faulty_inline_is_read_without_it(frontend: Frontend) -> None:
    with pytest.warns(UserWarning, match="read without it"):
        assert frontend.phonemes("[left](/☃/)") == "lˈɛft."


def test_notations() -> None:
    assert arpabet("HH AH0 L OW1") == "həlˈO"
    assert arpabet("hello") is None
    assert ipa("tʃeɪndʒ") == "ʧAnʤ"
    assert pinyin("lü4 se4") == ["lv4", "se4"]
    assert pinyin("win") is None
