"""Lexicon files: damage is noticed at load, with the remedy."""

from pathlib import Path

import pytest
from stonechat.errors import TextError
from stonechat.text.frontend import HOME
from stonechat.text.lexicon import LexiconFile


@pytest.mark.parametrize("name", ["zh.lex", "en.lex"])
def test_opens(name: str) -> None:
    table = LexiconFile(HOME / name).table("words")
    assert table.get(b"\xff\xfe\xfd") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-100], "damaged"),
        (lambda data: b"", "cannot read"),
        (lambda data: data[:10], "too short"),
        (lambda data: b"RIFF" + data[4:], "not a stonechat lexicon"),
        (lambda data: data[:8] + b"\x09" + data[9:], "format 9"),
        (lambda data: data[:40] + b"\x00" + data[41:], "damaged"),
    ],
)
def test_damage(tmp_path: Path, change, message: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "zh.lex"
    path.write_bytes(change((HOME / "zh.lex").read_bytes()))
    with pytest.raises(TextError, match=message):
        LexiconFile(path)


def test_missing_section() -> None:
    with pytest.raises(TextError, match="no section"):
        LexiconFile(HOME / "zh.lex").table("nothing")
