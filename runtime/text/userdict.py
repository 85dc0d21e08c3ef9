"""A user's own pronunciations: a text file, a word a line, read again when it changes.

# comment
重庆<TAB>chong2 qing4        pinyin with tone numbers (5 or 0: neutral)
Sharma<TAB>SH AA1 R M AH0    ARPAbet
tomato<TAB>/təˈmɑːtoʊ/       IPA; the slashes may be left out where it is not plain ASCII
Nguyen<TAB>NOO-yen           a plain respelling, the stressed part in capitals; or Chinese characters
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import TextError
from .notation import arpabet, ipa, pinyin
from .scripts import HAN, HAN_RUN

MAX_WORD = 100
"""Characters of a word, at most."""


@dataclass(frozen=True)
class UserWords:
    """What a dictionary file holds."""

    readings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Chinese words to their syllables."""
    phonemes: Mapping[str, str] = field(default_factory=dict)
    """Other words, in lower case, to the voice's symbols."""
    lengths: tuple[int, ...] = ()
    """How many characters the words of `phonemes` have, longest first."""

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the words of `phonemes` stand in a text, [start, end); the longest, and no part of a longer word."""
        at = 0
        while self.lengths and at < len(text):
            end = self._end(text, at)
            if end > at:
                yield at, end
            at = max(end, at + 1)

    def _end(self, text: str, at: int) -> int:
        """Where the word that begins at `at` ends, 0 where none does."""
        if not _is_border(text, at):
            return 0
        for end in (at + length for length in self.lengths if at + length <= len(text)):
            if text[at:end].lower() in self.phonemes and _is_border(text, end):
                return end
        return 0


def _is_border(text: str, at: int) -> bool:
    """Whether a word may begin or end before text[at]: letters and digits of one script hold together."""
    pair = text[at - 1 : at + 1] if at else ""
    return len(pair) < 2 or not (pair.isalnum() and not HAN.search(pair))


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
        said = text.strip()
        is_ipa = len(said) > 2 and said[0] == said[-1] == "/"
        said = said.strip("/") if is_ipa else said
        syllables = pinyin(said)
        if syllables is not None:
            return self._mandarin(syllables, text)
        if is_ipa or not (said.isascii() or HAN.search(said)):
            return self._checked(arpabet(said) or ipa(said), text)
        return self._checked(arpabet(said) or self._respell(said), text)

    def _mandarin(self, syllables: list[str], text: str) -> str:
        parts = [self._syllable(s) for s in syllables]
        wrong = " ".join(s for s, part in zip(syllables, parts, strict=True) if not part)
        if wrong:
            raise TextError(f"{text!r} is not Mandarin pinyin: there is no {wrong!r}")
        return "".join(parts)

    def _checked(self, phonemes: str, text: str) -> str:
        odd = "".join(sorted(set(phonemes) - self._known))
        if odd:
            raise TextError(f"{text!r} cannot be pronounced: the voice has no {odd!r}")
        if not phonemes.strip():
            raise TextError(f"{text!r} is no pinyin with tone numbers, ARPAbet, IPA or respelling")
        return phonemes


def parse(lines: list[str], name: str, pronouncer: Pronouncer) -> UserWords:
    """The words of a dictionary file; a faulty line is reported by a warning with its number, and skipped."""
    readings: dict[str, tuple[str, ...]] = {}
    phonemes: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            word, said = _columns(line)
            symbols = pronouncer.symbols(said)
        except TextError as error:
            warnings.warn(f"{name}, line {number}: {error}; skipped", stacklevel=2)
            continue
        readings.pop(word, None)  # of two lines for a word, the last counts
        phonemes.pop(word.lower(), None)
        syllables = pinyin(said.strip("/"))
        if HAN_RUN.fullmatch(word) and syllables and len(syllables) == len(word):
            readings[word] = tuple(syllables)
        else:
            phonemes[word.lower()] = symbols
    lengths = tuple(sorted({len(word) for word in phonemes}, reverse=True))
    return UserWords(readings, phonemes, lengths)


def _columns(line: str) -> tuple[str, str]:
    word, _, said = (part.strip() for part in line.partition("\t"))
    if not word or not said:
        raise TextError("write the word, a tab, and its pronunciation")
    if len(word) > MAX_WORD:
        raise TextError(f"the word has {len(word)} characters: {MAX_WORD} at most")
    return " ".join(word.split()), said.split("\t")[0].strip()


class UserDictionary:
    """A dictionary file that is read again whenever it changed."""

    def __init__(self, path: Path, pronouncer: Pronouncer) -> None:
        self.path = path
        self._pronouncer = pronouncer
        self._stamp: tuple[int, ...] | None = None

    def changed(self) -> UserWords | None:
        """The file's words if it is new or changed since the last call, else None.

        Raises TextError when the file cannot be read the first time; later it warns and keeps the words it had.
        """
        stamp: tuple[int, ...] = ()
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp == self._stamp:
                return None
            text = self.path.read_bytes().decode("utf-8-sig")
        except (OSError, ValueError) as error:
            told = f"cannot read the user dictionary {self.path}: {error}"
            if self._stamp is None:
                raise TextError(f"{told}; give a UTF-8 text file") from error
            if stamp != self._stamp:
                warnings.warn(f"{told}; its words stay as they were", stacklevel=2)
            self._stamp = stamp
            return None
        self._stamp = stamp
        return parse(text.replace("\r\n", "\n").split("\n"), self.path.name, self._pronouncer)
