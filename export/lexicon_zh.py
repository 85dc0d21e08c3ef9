"""Compiles zh.lex: jieba's words and frequencies, pypinyin's readings, corrected by lexicon_zh_words.tsv."""

from __future__ import annotations

import math
import re
from array import array
from pathlib import Path

import jieba
from pypinyin import Style, lazy_pinyin
from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
from stonechat.export.lexicon_file import Sections, table

RANGES = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x323AF))
LONGEST_WORD = 8
COST_STEP = 0.1  # nats
MIN_FREQUENCY = 25
"""Words rarer than this stay only where their reading differs from their characters'."""
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")


def corrections() -> dict[str, list[str]]:
    """Readings that overrule pypinyin's, from the table beside this file."""
    rows = (Path(__file__).parent / "lexicon_zh_words.tsv").read_text("utf-8").splitlines()
    pairs = [row.split("\t") for row in rows if row and not row.startswith("#")]
    return {word: reading.split() for word, reading in pairs}


def syllable(pinyin: str) -> str:
    """Numbered pinyin as the runtime writes it: ü is v, neutral tone 5."""
    return pinyin.replace("ü", "v").replace("u:", "v")


def char_reading(char: str) -> str | None:
    """pypinyin's first reading of one character."""
    if ord(char) not in PINYIN_DICT:
        return None
    reading = syllable(lazy_pinyin(char, style=Style.TONE3, neutral_tone_with_five=True, v_to_u=True)[0])
    return reading if re.fullmatch("[a-zêv]+[1-5]", reading) else None


def word_reading(word: str, fixed: dict[str, list[str]]) -> list[str]:
    """Lexical tones of a word: 一 and 不 before their sandhi."""
    if word in fixed:
        return fixed[word]
    pinyin = lazy_pinyin(word, style=Style.TONE3, neutral_tone_with_five=True, v_to_u=True)
    out = [syllable(p) for p in pinyin]
    for i, char in enumerate(word):
        pair = word[i : i + 2]
        if len(pair) == 2 and pair in fixed and (word not in PHRASES_DICT or fixed[pair][1][-1] == "5"):
            out[i : i + 2] = fixed[pair]
        if char == "一":
            out[i] = "yi1"
        elif char == "不":
            out[i] = "bu4"
        elif char == "得" and i == 1 and len(word) == 3 and word[0] not in FULL_DE:
            out[i] = "de5"
        elif char == "儿" and i and i == len(word) - 1 and word not in FULL_ER:
            out[i] = "r5"
        elif char == "地" and len(word) > 2 and i == len(word) - 1 and word[0] == word[1]:
            out[i] = "de5"  # "slowly" and the like
    return out


FULL_DE = frozenset("不所获取求难博贪自一先赢夺")
"""Before these the middle 得 of a word is the verb, not the particle ("跑得快")."""
FULL_ER = frozenset(
    [
        "女儿",
        "婴儿",
        "幼儿",
        "孤儿",
        "胎儿",
        "少儿",
        "小儿",
        "男儿",
        "宠儿",
        "健儿",
        "弃儿",
        "乞儿",
        "患儿",
        "新生儿",
        "早产儿",
        "混血儿",
        "托儿",
        "育儿",
    ]
)


def words_and_costs(fixed: dict[str, list[str]]) -> dict[str, int]:
    """Every word that may be kept, with its cost in steps of COST_STEP nats (-log probability)."""
    frequencies: dict[str, int] = {}
    with jieba.get_dict_file() as file:
        for line in file:
            word, count = line.decode("utf-8").split()[:2]
            if HAN.fullmatch(word) and len(word) <= LONGEST_WORD:
                frequencies[word] = int(count)
    total = math.log(sum(frequencies.values()))
    for word in fixed:
        if len(word) > 1:
            frequencies.setdefault(word, 300)
    for word in PHRASES_DICT:
        if HAN.fullmatch(word) and 1 < len(word) <= LONGEST_WORD:
            frequencies.setdefault(word, 3)
    return {w: min(255, round((total - math.log(max(1, n))) / COST_STEP)) for w, n in frequencies.items()}


def compile_zh() -> Sections:
    """The sections of zh.lex."""
    fixed = corrections()
    costs = words_and_costs(fixed)
    rare = round((math.log(6e7) - math.log(MIN_FREQUENCY)) / COST_STEP)
    syllables: dict[str, int] = {}
    default: dict[str, str] = {}
    for first, last in RANGES:
        for code in range(first, last + 1):
            syllable = fixed.get(chr(code), [char_reading(chr(code))])[0]
            if syllable:
                default[chr(code)] = syllable
    words: dict[bytes, bytes] = {}
    lengths: dict[str, int] = {}
    for word, cost in costs.items():
        if len(word) == 1 or any(char not in default for char in word):
            continue
        reading = word_reading(word, fixed)
        if len(reading) != len(word):
            print("skipped, reading of another length:", word, reading)
            continue
        plain = [default[char] for char in word]
        if reading == plain and cost > rare and word not in fixed:
            continue
        ids = [] if reading == plain else [syllables.setdefault(s, len(syllables)) for s in reading]
        words[word.encode("utf-16-le")] = bytes([cost]) + array("H", ids).tobytes()
        lengths[word[0]] = lengths.get(word[0], 0) | 1 << len(word) - 2
    readings, masks, single = array("H"), bytearray(), bytearray()
    bounds = array("I")
    for first, last in RANGES:
        bounds.extend((first, last, len(readings)))
        for code in range(first, last + 1):
            char = chr(code)
            spoken = default.get(char)
            readings.append(syllables.setdefault(spoken, len(syllables)) if spoken else 0xFFFF)
            masks.append(lengths.get(char, 0))
            single.append(costs.get(char, 179))
    print(f"zh: {len(words)} words, {len(default)} characters, {len(syllables)} syllables")
    return {
        "syllables": "\n".join(syllables).encode("utf-8"),
        "ranges": bounds.tobytes(),
        "readings": readings.tobytes(),
        "lengths": bytes(masks),
        "costs": bytes(single),
        **table("words", words),
    }
