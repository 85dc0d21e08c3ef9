"""The text frontend: text to clauses of phoneme symbols, in two halves that two pipeline stages call."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from ..errors import OptionError
from .clean import clean
from .g2p_en import EnglishG2P
from .g2p_zh import ChineseG2P
from .normalise import normalise
from .pronounce import clauses, units
from .scripts import language
from .split import spans
from .symbols import Symbols
from .types import Clause, Sentence

HOME = Path(__file__).parent.parent / "data" / "lexicon"


class Frontend:
    """Reads Chinese, English and mixed text. Make one with `Frontend.load`; safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        self.symbols = Symbols(folder / "symbols.tsv")
        self._zh = ChineseG2P(folder)
        self._en = EnglishG2P(folder, self.symbols)

    @classmethod
    def load(cls, folder: Path | str | None = None) -> Frontend:
        """Maps the compiled lexicons in `folder` (the package's own by default).

        Raises TextError when they are missing, damaged or of another format.
        """
        return cls(Path(folder) if folder else HOME)

    def sentences(self, text: str) -> Iterator[Sentence]:
        """Sentences of the text, normalised, one by one as they are found (the first half)."""
        warned = False
        first = True
        for span in spans(text):
            cleaned = clean(text, span.start, span.end)
            if cleaned.unknown and not warned:
                warned = True
                shown = "".join(dict.fromkeys(cleaned.unknown))[:10]
                warnings.warn(f"no reading for {shown!r}: skipped", stacklevel=2)
            pieces = normalise(cleaned, self._en.is_acronym)
            spoken = "".join(piece.text for piece in pieces)
            if not any(c.isalpha() for c in spoken):
                continue
            yield Sentence(
                text=text[span.start : span.end],
                start=span.start,
                pieces=pieces,
                lang=language(spoken),
                pause_s=span.pause_s,
                is_first=first,
                spoken=spoken,
            )
            first = False

    def pronounce(self, sentence: Sentence) -> Iterator[Clause]:
        """Clauses of one sentence (the second half)."""
        return clauses(sentence, units(sentence, self._zh, self._en), self.symbols)

    def clauses(self, text: str) -> Iterator[Clause]:
        """Clauses of the text; the first comes out without the rest of the text being looked at."""
        for sentence in self.sentences(text):
            yield from self.pronounce(sentence)

    def normalise(self, text: str) -> str:
        """The text as it is said."""
        return " ".join(" ".join(sentence.spoken.split()) for sentence in self.sentences(text))

    def phonemes(self, text: str, format: str = "ipa", sandhi: bool = True) -> str:
        """The text's phonemes: "ipa" as the voice's symbols, "ids", or "pinyin" with tones as spoken.

        `sandhi=False` gives the pinyin's dictionary tones instead.
        """
        if format == "pinyin" and not sandhi:
            found_units = (unit for s in self.sentences(text) for unit in units(s, self._zh, self._en))
            return " ".join(unit.lexical for unit in found_units if unit.lexical)
        found = self.clauses(text)
        if format == "ipa":
            return " ".join(clause.phonemes for clause in found)
        if format == "pinyin":
            return " ".join(clause.pinyin for clause in found)
        if format == "ids":
            return " ".join(str(i) for clause in found for i in clause.ids)
        raise OptionError(f"unknown phoneme format {format!r}: choose ipa, pinyin or ids")

    def language(self, text: str) -> str:
        """"zh", "en" or "mix", by the text's letters; text with any Chinese is never "en"."""
        return language(text)
