"""Chinese word segmentation: the most probable path through the words that a lexicon holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .lexicon import LexiconFile

NO_READING = 0xFFFF
UNKNOWN_COST = 179
SYLLABLE_BYTES = 2


@dataclass(frozen=True)
class ZhWord:
    """A word of a Chinese run: run[start:end] and its lexical syllables ("zhong1")."""

    text: str
    start: int
    end: int
    syllables: tuple[str, ...]


class ZhLexicon:
    """zh.lex: words with costs and readings, and a default reading for every Chinese character."""

    def __init__(self, path: Path) -> None:
        self.file = file = LexiconFile(path)
        self._syllables = bytes(file.bytes("syllables")).decode("utf-8").split("\n")
        bounds = file.array("ranges", "I")
        self._ranges = [(bounds[i], bounds[i + 1], bounds[i + 2]) for i in range(0, len(bounds), 3)]
        self._readings = file.array("readings", "H")
        self._lengths = file.array("lengths", "B")
        self._costs = file.array("costs", "B")
        self._words = file.table("words")
        self._user: Mapping[str, tuple[str, ...]] = {}
        self._longest_user = 0

    def add_user_words(self, words: Mapping[str, tuple[str, ...]]) -> None:
        """Words that overrule the lexicon (replacing those added before); a character does so where it is a word."""
        self._user = words
        self._longest_user = max(map(len, words), default=0)

    def is_user_word(self, text: str) -> bool:
        """Whether the user gave this word's reading."""
        return text in self._user

    def _index(self, char: str) -> int:
        code = ord(char)
        for first, last, offset in self._ranges:
            if first <= code <= last:
                return offset + code - first
        return -1

    def reading(self, char: str) -> str | None:
        """Default syllable of one character, None when it has none."""
        index = self._index(char)
        number = self._readings[index] if index >= 0 else NO_READING
        return None if number == NO_READING else self._syllables[number]

    def word(self, text: str) -> tuple[str, ...] | None:
        """Syllables of a word of two or more characters that the lexicon holds, else None."""
        if text in self._user:
            return self._user[text]
        value = self._words.get(text.encode("utf-16-le"))
        return None if value is None else self._word_syllables(text, value)

    def _word_syllables(self, text: str, value: bytes) -> tuple[str, ...]:
        names = self._syllables
        if len(value) == 1:
            return tuple(self.reading(char) or "" for char in text)
        return tuple(names[value[i] | value[i + 1] << 8] for i in range(1, len(value), SYLLABLE_BYTES))

    def segment(self, run: str) -> list[ZhWord]:
        """Words of a run of Chinese characters; characters without a reading are left out."""
        user = self._user  # the one it is, whoever puts another in its place meanwhile
        ends, values = self._best_path(run, user)
        words = []
        at = 0
        while at < len(run):
            end, value = ends[at], values[at]
            text = run[at:end]
            if text in user:
                syllables = user[text]
            elif value is None:
                syllables = (self.reading(text) or "",)
            else:
                syllables = self._word_syllables(text, value)
            if all(syllables):
                words.append(ZhWord(text, at, end, syllables))
            at = end
        return words

    def _best_path(
        self, run: str, user: Mapping[str, tuple[str, ...]]
    ) -> tuple[list[int], list[bytes | None]]:
        """For each position, where its best word ends and that word's value (None: a single character)."""
        size = len(run)
        best = [0] * (size + 1)
        ends = [0] * size
        values: list[bytes | None] = [None] * size
        coded = run.encode("utf-16-le")
        narrow = len(coded) == 2 * size  # no surrogate pairs: characters are two bytes each
        get = self._words.get
        for i in range(size - 1, -1, -1):
            index = self._index(run[i])
            cheapest = best[i + 1] + (self._costs[index] if index >= 0 else UNKNOWN_COST)
            ends[i] = i + 1
            mask = self._lengths[index] if index >= 0 and narrow else 0
            end = i + 2
            while mask and end <= size:
                if mask & 1:
                    value = get(coded[2 * i : 2 * end])
                    if value is not None and best[end] + value[0] < cheapest:
                        cheapest, ends[i], values[i] = best[end] + value[0], end, value
                mask >>= 1
                end += 1
            if self._longest_user:
                for end in range(min(size, i + self._longest_user), i + 1, -1):
                    if run[i:end] in user:
                        cheapest, ends[i], values[i] = best[end], end, None
                        break
            best[i] = cheapest
        return ends, values
