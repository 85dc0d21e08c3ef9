"""The facts that pass between the halves of the text frontend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .document import Document
from .given import Given
from .manner import Delivery


@dataclass(frozen=True)
class Piece:
    """A run of spoken text and the source it stands for.

    `rule` is "" where the spoken text is the source itself, character by character (`offsets` then holds the
    source index of each character and of the end); else the name of the normalisation rule that wrote it, and
    the whole run stands for source[start:end].
    """

    text: str
    start: int
    end: int
    rule: str = ""
    offsets: tuple[int, ...] = ()

    def source(self, first: int, last: int) -> tuple[int, int]:
        """Source span [start, end) of characters [first, last) of this piece."""
        if not self.offsets:
            return self.start, self.end
        is_mark = "\ue000" <= self.text[last - 1] <= "\uf8ff"  # stands for a whole word (given.py)
        return self.offsets[first], self.offsets[last] if is_mark else self.offsets[last - 1] + 1


@dataclass(frozen=True)
class Sentence:
    """One sentence, normalised, with the way back to its source."""

    text: str
    """Source text of the sentence."""
    start: int
    """Index of the sentence in the source."""
    pieces: tuple[Piece, ...]
    lang: str
    """"zh", "en" or "mix"."""
    pause_s: float = 0.0
    """Extra pause after it, seconds (a paragraph break)."""
    is_first: bool = False
    """True for the first sentence of an utterance: its first clause is kept short."""
    spoken: str = field(default="", compare=False)
    """The pieces' text, joined."""
    given: tuple[Given, ...] = ()
    """Words whose pronunciation was given; a private-use character stands for each in `spoken`."""
    document: Document | None = field(default=None, compare=False)
    """What it is a sentence of, where that has markup; places then count in the document's text."""
    since: int = 0
    """Where the sentence before it ended."""

    def spans(self) -> Iterator[tuple[int, Piece]]:
        """Each piece with its index in `spoken`."""
        at = 0
        for piece in self.pieces:
            yield at, piece
            at += len(piece.text)


@dataclass(frozen=True)
class Word:
    """A spoken word: source[start:end] as given, symbols ids[first:last]."""

    text: str
    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class Clause:
    """What the voice speaks in one go."""

    ids: tuple[int, ...]
    """Symbol ids with the pad 0 at both ends."""
    phonemes: str
    words: tuple[Word, ...]
    lang: str
    """"zh", "en" or "mix"."""
    text: str
    """Source text of the clause."""
    spoken: str
    """Normalised text of the clause."""
    pause_s: float = 0.0
    """Extra pause after it, seconds."""
    pinyin: str = ""
    """Syllables with tone numbers as spoken, English words as they are."""
    delivery: Delivery | None = None
    """How it is spoken, where a document says so; without symbols it is silence."""


AS_WRITTEN, PLAIN_FORM, LEFT_OUT = "as written", "plain form", "left out"


@dataclass(frozen=True)
class Explained:
    """A span of the source, text[start:end], and how it came to be said."""

    source: str
    start: int
    end: int
    spoken: str
    rule: str
    """The normalisation rule's name; "as written", "plain form" (other characters for the same thing), "left out";
    "inline" or "user dictionary" where the pronunciation was given."""
    phonemes: str = ""
    """The voice's symbols, where words are explained."""
    pinyin: str = ""
    """Syllables as spoken, or the English word."""
    origin: str = ""
    """Where the pronunciation comes from: "lexicon", "letter to sound", "word list, third-tone sandhi" …"""
