"""The cases beside this file: spoken forms, pinyin, and text that must merely be survived."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from stonechat.text import Frontend

CASES = Path(__file__).parent / "cases"


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def plain(text: str) -> set[str]:
    """Lower case without punctuation and hyphens; also without the spaces around Chinese."""
    text = " ".join(re.sub(r"[^\w\s]|_", " ", text.lower()).split())
    return {text, re.sub(r"(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])", "", text)}


@pytest.mark.parametrize("case", load("normalise.jsonl"), ids=lambda case: f"{case['kind']}: {case['text']}")
def test_normalise(frontend: Frontend, case: dict[str, Any]) -> None:
    said = plain(frontend.normalise(case["text"]))
    accepted = [pattern.lower() for pattern in case["accept"]]
    assert any(re.fullmatch(pattern, form) for pattern in accepted for form in said), said


@pytest.mark.parametrize("case", load("pinyin.jsonl"), ids=lambda case: case["text"])
def test_pinyin(frontend: Frontend, case: dict[str, Any]) -> None:
    assert frontend.phonemes(case["text"], format="pinyin") == case["pinyin"]


@pytest.mark.parametrize("case", load("robust.jsonl"), ids=lambda case: ascii(case["text"][:20]))
def test_robust(frontend: Frontend, case: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for clause in frontend.clauses(case["text"]):
            assert clause.ids[0] == clause.ids[-1] == 0
            assert len(clause.ids) > 2
            assert all(0 < i < 178 for i in clause.ids[1:-1])
