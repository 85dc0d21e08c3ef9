"""The text frontend: text to clauses of phoneme symbols, in two halves that two pipeline stages call."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..errors import OptionError, TextError
from . import given as given_words
from .clean import Cleaned, clean
from .deliver import deliver
from .document import Document
from .g2p_en import EnglishG2P
from .g2p_zh import ChineseG2P
from .given import Given, restored
from .manner import Speakers
from .marked import clean_marked, languages
from .normalise import normalise
from .pronounce import clauses, units
from .scripts import HAN, HAN_RUN, language
from .split import Span, spans
from .symbols import Symbols
from .types import Clause, Explained, Sentence
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

    def touch(self) -> None:
        """Bring the mapped lexicons into memory, so that no word waits for the disk."""
        for lexicon in (self._zh.lexicon, self._en.lexicon):
            lexicon.file.touch()

    def _respelled(self, text: str) -> str:
        """Symbols of a plain respelling ("nash vil", "那斯")."""
        if HAN_RUN.fullmatch(text):
            return "".join(word.phonemes for word in self._zh(text))
        from .respell import respelled  # seldom wanted

        return respelled(text, self._en.lexicon.has, lambda word: self._en([word])[0])

    def _reload(self) -> None:
        words = self._user.changed() if self._user else None
        if words is not None:
            self._words = words
            self._zh.lexicon.add_user_words(words.readings)

    def ssml(self, text: str, lenient: bool = False, voice: Speakers | None = None) -> Document:
        """Reads SSML; TextError with line and column where it is malformed, unless `lenient` (see ssml.py)."""
        from . import ssml  # seldom wanted

        return ssml.read(text, ssml.Readers(self._alphabet, self._plainly, voice or Speakers()), lenient)

    def _alphabet(self, name: str, said: str) -> str:
        from .ssml_phoneme import symbols

        return symbols(self._pronouncer, name, said)

    def _plainly(self, text: str) -> tuple[str, str]:
        """A text as it is said in English and in Chinese."""
        cleaned = clean(text, 0, len(text))
        both = (
            normalise(cleaned, self._en.is_acronym, languages=((0, len(cleaned.text), lang),))
            for lang in ("en", "zh")
        )
        english, chinese = (" ".join("".join(piece.text for piece in pieces).split()) for pieces in both)
        return english, chinese

    def _asked(self, text: str | Document, ssml: bool | str) -> str | Document:
        return self.ssml(text, ssml == "lenient") if ssml and isinstance(text, str) else text

    def sentences(self, text: str | Document, read_symbols: bool = False) -> Iterator[Sentence]:
        """Sentences of the text, normalised, one by one as they are found (the first half).

        `read_symbols`, here and below, reads emoji and markup by their names instead of leaving them out.
        """
        self._reload()
        if isinstance(text, Document):
            return self._marked(text, read_symbols)
        return self._sentences(text, read_symbols)

    def _marked(self, document: Document, read_symbols: bool) -> Iterator[Sentence]:
        """Sentences of a document; at its end an empty one where marks are left."""
        since = 0
        for sentence in self._sentences(document.text, read_symbols, document):
            yield replace(sentence, document=document, since=since)
            since = sentence.start + len(sentence.text)
        end = len(document.text) + 1
        if document.marks_between(since, end):
            yield Sentence("", end, (), document.lang, document=document, since=since)

    def _sentences(
        self, text: str, read_symbols: bool, document: Document | None = None
    ) -> Iterator[Sentence]:
        warned = False
        is_first = True
        for span in spans(text):
            sentence, unknown = self._sentence(text, span, is_first, read_symbols, document)
            if unknown and not warned:
                warned = True
                shown = "".join(dict.fromkeys(unknown))[:10]
                warnings.warn(f"no reading for {shown!r}: skipped", stacklevel=2)
            if sentence is not None:
                yield sentence
                is_first = False

    def _sentence(
        self, text: str, span: Span, is_first: bool, read_symbols: bool, document: Document | None
    ) -> tuple[Sentence | None, str]:
        """The sentence at `span`, None where nothing can be said; and characters without reading."""
        given: list[Given] = []
        cleaned = self._cleaned(text, span, given, read_symbols, document)
        if self._words.lengths:
            cleaned = given_words.replace(cleaned, self._words, given)
        if document:
            asked = languages(document, cleaned)
            pieces = normalise(cleaned, self._en.is_acronym, read_symbols, tuple(given), asked)
        else:
            pieces = normalise(cleaned, self._en.is_acronym, read_symbols)
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

    def _cleaned(
        self, text: str, span: Span, given: list[Given], read_symbols: bool, document: Document | None
    ) -> Cleaned:
        def say(word: str, said: str) -> str:
            return self._inline(word, said, given)

        if document:
            return clean_marked(document, span.start, span.end, given, say, read_symbols)
        return clean(text, span.start, span.end, say, read_symbols)

    def _inline(self, word: str, said: str, given: list[Given]) -> str:
        """What stands for `[word](/said/)` in the text: a mark, or the word itself where `said` is faulty."""
        try:
            phonemes = self._pronouncer.symbols(said)
        except TextError as error:
            warnings.warn(f"[{word}]({said}): {error}; read without it", stacklevel=4)
            return word
        given.append(Given(word, phonemes, "inline"))
        return given_words.mark(len(given) - 1)

    def pronounce(self, sentence: Sentence) -> Iterator[Clause]:
        """Clauses of one sentence (the second half)."""
        found = units(sentence, self._zh, self._en)
        if sentence.document:
            return deliver(sentence.document, sentence, found, self.symbols)
        return clauses(sentence, found, self.symbols)

    def clauses(
        self, text: str | Document, read_symbols: bool = False, ssml: bool | str = False
    ) -> Iterator[Clause]:
        """Clauses of the text; the first comes out without the rest of the text being looked at.

        `ssml`, here and below, takes the text for SSML: True, or "lenient" to read malformed markup as text.
        """
        for sentence in self.sentences(self._asked(text, ssml), read_symbols):
            yield from self.pronounce(sentence)

    def normalise(self, text: str | Document, read_symbols: bool = False, ssml: bool | str = False) -> str:
        """The text as it is said."""
        found = self.sentences(self._asked(text, ssml), read_symbols)
        return " ".join(filter(None, (" ".join(restored(s.spoken, s.given).split()) for s in found)))

    def phonemes(
        self,
        text: str | Document,
        format: str = "ipa",
        sandhi: bool = True,
        read_symbols: bool = False,
        ssml: bool | str = False,
    ) -> str:
        """The text's phonemes: "ipa" as the voice's symbols, "ids", or "pinyin" with tones as spoken.

        `sandhi=False` gives the pinyin's dictionary tones instead.
        """
        text = self._asked(text, ssml)
        if format == "pinyin" and not sandhi:
            found_units = (
                unit for s in self.sentences(text, read_symbols) for unit in units(s, self._zh, self._en)
            )
            return " ".join(unit.lexical for unit in found_units if unit.lexical)
        found = (clause for clause in self.clauses(text, read_symbols) if clause.ids)
        if format == "ipa":
            return " ".join(clause.phonemes for clause in found)
        if format == "pinyin":
            return " ".join(clause.pinyin for clause in found)
        if format == "ids":
            return " ".join(str(i) for clause in found for i in clause.ids)
        raise OptionError(f"unknown phoneme format {format!r}: choose ipa, pinyin or ids")

    def explain_normalise(
        self, text: str | Document, read_symbols: bool = False, ssml: bool | str = False
    ) -> Iterator[Explained]:
        """Each span of the text with the rule that made its spoken form."""
        from . import explain  # seldom wanted

        text = self._asked(text, ssml)
        return explain.in_source(text, explain.spans(str(text), self.sentences(text, read_symbols)))

    def explain_phonemes(
        self, text: str | Document, read_symbols: bool = False, ssml: bool | str = False
    ) -> Iterator[Explained]:
        """Each word and pause with its rule, its symbols and where these come from."""
        from . import explain

        text = self._asked(text, ssml)
        for sentence in self.sentences(text, read_symbols):
            words = explain.words(str(text), sentence, self._zh, self._en)
            yield from explain.in_source(text, words)

    def language(self, text: str | Document) -> str:
        """ "zh", "en" or "mix", by the text's letters; text with any Chinese is never "en"."""
        return text.lang if isinstance(text, Document) else language(text)
