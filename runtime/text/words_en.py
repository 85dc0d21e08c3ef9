"""en.lex: English words and their readings; inflected forms of words that it holds."""

from __future__ import annotations

import re
from pathlib import Path

from .lexicon import LexiconFile
from .symbols import Symbols

TAGS = ("DEFAULT", "NOUN", "VERB", "ADJ", "ADV", "VBD", "VBN", "VBP", "DT", "None")
VARIANT = 0xFF
"""Before a further reading: this byte, the index of its tag in TAGS, its symbols."""
GOLD = 1
DOUBLED = re.compile(r"([bcdgklmnprstvxz])\1ing$|cking$")
FLAPPING = frozenset("AIOWYiuæɑəɛɪɹʊʌ")
Readings = dict[str, str]


def coarse(tag: str) -> str:
    """The word class of a Penn Treebank tag, as the lexicon names it."""
    for prefix, name in (("VB", "VERB"), ("NN", "NOUN"), ("RB", "ADV"), ("JJ", "ADJ")):
        if tag.startswith(prefix):
            return name
    return tag


class EnLexicon:
    """Readings of English words by tag."""

    def __init__(self, path: Path, symbols: Symbols) -> None:
        self.file = LexiconFile(path)
        self._words = self.file.table("words")
        self._symbols = symbols

    def _entry(self, word: str) -> bytes | None:
        """The entry of a word as it is or with its first letter in the other case."""
        value = self._words.get(word.encode("utf-8"))
        if value is not None or len(word) < 2:
            return value
        lower = word.lower()
        other = lower.capitalize() if word == lower else lower if word == lower.capitalize() else word
        return self._words.get(other.encode("utf-8")) if other != word else None

    def readings(self, word: str, gold: bool = False) -> Readings | None:
        """Readings by tag; `gold`: only from the hand-checked part of the lexicon."""
        value = self._entry(word)
        if value is None or (gold and not value[0] & GOLD):
            return None
        parts = value[1:].split(b"\xff")
        out = {"DEFAULT": self._symbols.decode(parts[0])}
        for part in parts[1:]:
            out[TAGS[part[0]]] = self._symbols.decode(part[1:])
        return out

    def has(self, word: str, gold: bool = False) -> bool:
        """Whether the word has an entry."""
        value = self._entry(word)
        return value is not None and (not gold or bool(value[0] & GOLD))

    def knows(self, word: str) -> bool:
        """Whether `word` can be read without its inflections: an entry, a letter, or capitals."""
        if self.has(word):
            return True
        if not (word.isascii() and word.isalpha()):
            return False
        return len(word) == 1 or word[1:] == word[1:].upper()

    def stem_s(self, word: str) -> str | None:
        """The known word that "word" is the plural, third person or possessive of."""
        if len(word) < 3 or not word.endswith("s"):
            return None
        if not word.endswith("ss") and self.knows(word[:-1]):
            return word[:-1]
        long_es = len(word) > 4 and word.endswith("es") and not word.endswith("ies")
        if (word.endswith("'s") or long_es) and self.knows(word[:-2]):
            return word[:-2]
        if len(word) > 4 and word.endswith("ies") and self.knows(word[:-3] + "y"):
            return word[:-3] + "y"
        return None

    def stem_ed(self, word: str) -> str | None:
        """The known verb that "word" is the past of."""
        if len(word) < 4 or not word.endswith("d"):
            return None
        if not word.endswith("dd") and self.knows(word[:-1]):
            return word[:-1]
        if len(word) > 4 and word.endswith("ed") and not word.endswith("eed") and self.knows(word[:-2]):
            return word[:-2]
        return None

    def stem_ing(self, word: str) -> str | None:
        """The known verb that "word" is the -ing form of."""
        if len(word) < 5 or not word.endswith("ing"):
            return None
        if len(word) > 5 and self.knows(word[:-3]):
            return word[:-3]
        if self.knows(word[:-3] + "e"):
            return word[:-3] + "e"
        if len(word) > 5 and DOUBLED.search(word) and self.knows(word[:-4]):
            return word[:-4]
        return None


def add_s(stem: str) -> str:
    """Phonemes with -s."""
    if stem[-1:] in "ptkfθ":
        return stem + "s"
    return stem + ("ᵻz" if stem[-1] in "szʃʒʧʤ" else "z")


def add_ed(stem: str) -> str:
    """Phonemes with -ed; an American t between vowels is flapped."""
    last = stem[-1:]
    if last in "pkfθʃsʧ":
        return stem + "t"
    if last not in "td":
        return stem + "d"
    if last == "t" and stem[-2:-1] in FLAPPING and len(stem) > 1:
        return stem[:-1] + "ɾᵻd"
    return stem + "ᵻd"


def add_ing(stem: str) -> str:
    """Phonemes with -ing; an American t between vowels is flapped."""
    if len(stem) > 1 and stem[-1] == "t" and stem[-2] in FLAPPING:
        return stem[:-1] + "ɾɪŋ"
    return stem + "ɪŋ"
