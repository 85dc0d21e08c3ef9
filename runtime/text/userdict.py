"""A user's own pronunciations: a text file, a word a line, read again when it changes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import TextError
from .notation import arpabet, ipa, pinyin
from .scripts import HAN, HAN_RUN


@dataclass(frozen=True)
class UserWords:
    """What a dictionary file holds."""

    readings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Chinese words to their syllables."""
    phonemes: dict[str, str] = field(default_factory=dict)
    """Other words, in lower case, to the voice's symbols."""
    pattern: re.Pattern[str] | None = None
    """Finds the words of `phonemes` in a text."""


class Pronouncer:
    """Reads one pronunciation, whatever its notation."""

    def __init__(
        self, syllable: Callable[[str], str], respell: Callable[[str], str], known: frozenset[str]
    ) -> None:
        self._syllable = syllable
        self._respell = respell
        self._known = known

    def symbols(self, text: str) -> str:
        """The voice's symbols of a pronunciation; raises TextError where it has none."""
        text = text.strip()
        syllables = pinyin(text)
        if syllables is not None:
            parts = [self._syllable(s) for s in syllables]
            if not all(parts):
                raise TextError(f"{text!r} is not Mandarin pinyin")
            return "".join(parts)
        if text.startswith("/") and text.endswith("/") and len(text) > 2:
            return self._checked(ipa(text.strip("/")), text)
        if not text.isascii() and not HAN.search(text):
            return self._checked(ipa(text), text)
        found = arpabet(text) or self._respell(text)
        return self._checked(found, text)

    def _checked(self, phonemes: str, text: str) -> str:
        odd = "".join(sorted(set(phonemes) - self._known))
        if odd or not phonemes.strip():
            raise TextError(f"{text!r} cannot be pronounced" + (f": the voice has no {odd!r}" if odd else ""))
        return phonemes


def parse(lines: list[str], name: str, pronouncer: Pronouncer) -> UserWords:
    """The words of a dictionary file; a faulty line is reported by a warning with its number, and skipped."""
    readings: dict[str, tuple[str, ...]] = {}
    phonemes: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        word, tab, said = (part.strip() for part in line.partition("\t"))
        try:
            if (not tab and not said) or not word or not said:
                raise TextError("write the word, a tab, and its pronunciation")
            symbols = pronouncer.symbols(said)
            syllables = pinyin(said)
            if HAN_RUN.fullmatch(word) and syllables and len(syllables) == len(word):
                readings[word] = tuple(syllables)
            else:
                phonemes[word.lower()] = symbols
        except TextError as error:
            warnings.warn(f"{name}, line {number}: {error}; skipped", stacklevel=2)
    return UserWords(readings, phonemes, _pattern(list(phonemes)))


def _pattern(words: list[str]) -> re.Pattern[str] | None:
    if not words:
        return None
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(longest_first)})(?![A-Za-z0-9])", re.IGNORECASE)


class UserDictionary:
    """A dictionary file that is read again whenever it changed."""

    def __init__(self, path: Path, pronouncer: Pronouncer) -> None:
        self.path = path
        self._pronouncer = pronouncer
        self._stamp: tuple[int, int] | None = None

    def changed(self) -> UserWords | None:
        """The file's words if it is new or changed since the last call, else None.

        Raises TextError when the file cannot be read the first time; later it keeps the words it had.
        """
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp == self._stamp:
                return None
            lines = self.path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            if self._stamp is None:
                raise TextError(f"cannot read the user dictionary {self.path}: {error}") from error
            return None
        self._stamp = stamp
        return parse(lines, self.path.name, self._pronouncer)
