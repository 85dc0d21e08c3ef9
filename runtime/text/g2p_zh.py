"""Chinese text to syllables and to the voice's symbols."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .lazy import LazyPattern
from .sandhi import third_tones, yi_bu
from .segment import ZhLexicon, ZhWord
from .tables import rows

TONES = {"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": ""}


@dataclass(frozen=True)
class SpokenWord:
    """A word of a Chinese run: run[start:end], its symbols, its syllables as spoken and before sandhi."""

    text: str
    start: int
    end: int
    phonemes: str
    syllables: tuple[str, ...]
    lexical: tuple[str, ...]


class ChineseG2P:
    """Segmentation, polyphones by context, sandhi, symbols."""

    def __init__(self, folder: Path) -> None:
        self.lexicon = ZhLexicon(folder / "zh.lex")
        self._symbols = {row[0]: row[1] for row in rows("pinyin.tsv")}
        self._polyphones: dict[str, list[tuple[LazyPattern, LazyPattern, str]]] = {}
        for char, left, right, reading in rows("polyphones.tsv"):
            rule = (LazyPattern(f"(?:{left})$"), LazyPattern(right), reading)
            self._polyphones.setdefault(char, []).append(rule)

    def lexical(self, run: str) -> list[ZhWord]:
        """Words of a run of Chinese characters with their tones before sandhi."""
        words = self.lexicon.segment(run)
        return [self._in_context(run, word) for word in words]

    def _in_context(self, run: str, word: ZhWord) -> ZhWord:
        """A lone polyphonic character takes the reading of the first rule that fits its surroundings."""
        if self.lexicon.is_user_word(word.text):
            return word
        for left, right, reading in self._polyphones.get(word.text, ()):
            if left.search(run[max(0, word.start - 4) : word.start]) and right.match(run, word.end):
                return ZhWord(word.text, word.start, word.end, (reading,))
        return word

    def __call__(self, run: str) -> list[SpokenWord]:
        """Spoken words of one phrase (a run of Chinese characters without punctuation)."""
        words = self.lexical(run)
        written = yi_bu(words)
        spoken = third_tones(words, written, self._is_word)
        return [
            SpokenWord(
                w.text, w.start, w.end, "".join(map(self.symbols, written[i])), tuple(spoken[i]), w.syllables
            )
            for i, w in enumerate(words)
        ]

    def _is_word(self, text: str) -> bool:
        return self.lexicon.word(text) is not None

    def symbols(self, syllable: str) -> str:
        """The voice's symbols of a syllable; the voice itself makes third-tone sandhi from lexical tones."""
        body = self._symbols.get(syllable[:-1], "")
        return body.replace("0", TONES.get(syllable[-1], ""))
