"""The package as it is laid out and as its names are promised."""

import tomllib
from pathlib import Path

import pytest
import stonechat

ROOT = Path(__file__).parent.parent
FOLDERS = {"stonechat": "runtime", "stonechat.export": "export", "stonechat.platforms": "platforms"}


def test_public_names_are_pinned() -> None:
    assert stonechat.__all__ == [
        "AudioError",
        "Chunk",
        "ModelError",
        "OptionError",
        "PoolError",
        "Session",
        "SpokenMark",
        "SpokenWord",
        "StonechatError",
        "TextError",
        "Utterance",
        "Voice",
        "VoiceError",
        "load",
        "voices",
    ]


def test_packages_listed_are_the_packages_there() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["tool"]["setuptools"]
    there = set()
    for name, folder in FOLDERS.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            below = init.parent.relative_to(ROOT / folder).parts
            there.add(".".join((name, *below)))
    assert set(config["packages"]) == there


@pytest.mark.parametrize("file", sorted((ROOT / "runtime").rglob("*.py")), ids=lambda p: p.name)
def test_runtime_needs_nothing_of_export(file: Path) -> None:
    source = file.read_text("utf8")
    assert "stonechat.export" not in source
    assert "import runtime" not in source
