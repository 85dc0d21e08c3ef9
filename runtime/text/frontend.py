"""The text frontend: text to clauses of phoneme symbols, in two halves that two pipeline stages call."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from ..errors import OptionError, TextError
from . import given as given_words
from .clean import clean
from .g2p_en import EnglishG2P
from .g2p_zh import ChineseG2P
from .given import Given, restored
from .normalise import normalise
from .pronounce import clauses, units
from .scripts import HAN, HAN_RUN, language
from .split import Span, spans
from .symbols import Symbols
from .types import Clause, Sentence
from .userdict import Pronouncer, UserDictionary, UserWords

HOME = Path(__file__).parent.parent / "data" / "lexicon"


class Frontend:
    """Reads Chinese, English and mixed text. Make one with `Frontend.load`; safe to share between threads."""

    def __init__(self, folder: Path, lexicon: Path | None = None) -> None:
        self.symbols = Symbols(folder / "symbols.tsv")
        self._zh = ChineseG2P(folder)
        self._en = EnglishG2P(folder, self.symbols)
        self._pronouncer = Pronouncer(self._zh.symbols, self._respelled, frozenset(self.symbols.ids))
        self._user = UserDictionary(lexicon, self._pronouncer) if lexicon else None
        self._words = UserWords()
        self._reload()

    @classmethod
    def load(cls, folder: Path | str | None = None, lexicon: Path | str | None = None) -> Frontend:
        """Maps the compiled lexicons in `folder` (the package's own by default).

        `lexicon` is a user's dictionary (userdict.py), read again whenever it changes. Raises TextError when
        a file is missing, damaged or of another format.
        """
        return cls(Path(folder) if folder else HOME, Path(lexicon) if lexicon else None)

    def _respelled(self, text: str) -> str:
        """Symbols of a plain respelling ("nash vil", "那斯")."""
        if HAN_RUN.fullmatch(text):
            return "".join(word.phonemes for word in self._zh(text))
        if not all(word.replace("-", "").replace("'", "").isalpha() for word in text.split()):
            return ""
        return " ".join(self._en(text.split()))

    def _reload(self) -> None:
        words = self._user.changed() if self._user else None
        if words is not None:
            self._words = words
            self._zh.lexicon.add_user_words(words.readings)

    def sentences(self, text: str) -> Iterator[Sentence]:
        """Sentences of the text, normalised, one by one as they are found (the first half)."""
        self._reload()
        warned = False
        is_first = True
        for span in spans(text):
            sentence, unknown = self._sentence(text, span, is_first)
            if unknown and not warned:
                warned = True
                shown = "".join(dict.fromkeys(unknown))[:10]
                warnings.warn(f"no reading for {shown!r}: skipped", stacklevel=2)
            if sentence is not None:
                yield sentence
                is_first = False

    def _sentence(self, text: str, span: Span, is_first: bool) -> tuple[Sentence | None, str]:
        """The sentence at `span`, None where nothing can be said; and characters without reading."""
        given: list[Given] = []
        cleaned = clean(text, span.start, span.end, lambda word, said: self._inline(word, said, given))
        if self._words.pattern:
            cleaned = given_words.replace(cleaned, self._words.pattern, self._words.phonemes, given)
        pieces = normalise(cleaned, self._en.is_acronym)
        spoken = "".join(piece.text for piece in pieces)
        plain = restored(spoken, tuple(given))
        unread = "".join(c for c in plain if HAN.match(c) and self._zh.lexicon.reading(c) is None)
        if not given and not any(c.isalpha() for c in spoken):
            return None, cleaned.unknown + unread
        sentence = Sentence(
            text=text[span.start : span.end],
            start=span.start,
            pieces=pieces,
            lang=language(plain),
            pause_s=span.pause_s,
            is_first=is_first,
            spoken=spoken,
            given=tuple(given),
        )
        return sentence, cleaned.unknown + unread

    def _inline(self, word: str, said: str, given: list[Given]) -> str:
        """What stands for `[word](/said/)` in the text: a mark, or the word itself where `said` is faulty."""
        try:
            phonemes = self._pronouncer.symbols(said)
        except TextError as error:
            warnings.warn(f"[{word}]({said}): {error}; read without it", stacklevel=4)
            return word
        given.append(Given(word, phonemes))
        return given_words.mark(len(given) - 1)

    def pronounce(self, sentence: Sentence) -> Iterator[Clause]:
        """Clauses of one sentence (the second half)."""
        return clauses(sentence, units(sentence, self._zh, self._en), self.symbols)

    def clauses(self, text: str) -> Iterator[Clause]:
        """Clauses of the text; the first comes out without the rest of the text being looked at."""
        for sentence in self.sentences(text):
            yield from self.pronounce(sentence)

    def normalise(self, text: str) -> str:
        """The text as it is said."""
        return " ".join(" ".join(restored(s.spoken, s.given).split()) for s in self.sentences(text))

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
        """ "zh", "en" or "mix", by the text's letters; text with any Chinese is never "en"."""
        return language(text)
