"""English words to the voice's symbols: lexicon, inflections, use in context, spelling, letter to sound."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from .lazy import LazyPattern
from .lts import LetterToSound
from .stress import PRIMARY, SECONDARY, compound, demote, plain, promote
from .symbols import VOWELS, Symbols
from .tables import rows
from .tagger import Tagger
from .words_en import EnLexicon, add_ed, add_ing, add_s, coarse

PART = re.compile(r"[A-Z](?=[A-Z][a-z])|[A-Z]+(?![a-z])|[A-Za-zÀ-ɏ][a-zß-ɏ]*(?:'[a-z]+)*|'")
UNSPEAKABLE = re.compile("^[^AEIOUY]*$|^[^AEIOUYS][^AEIOUYHLRW]|[^AEIOUY]{4}|(.)\\1\\1")
"""Capitals that no word begins or goes on with."""
CONSONANTS = frozenset("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ")
OBJECTS = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "your",
        "his",
        "her",
        "its",
        "our",
        "their",
        "this",
        "that",
        "these",
        "those",
        "it",
        "them",
        "me",
        "us",
        "him",
        "all",
    ]
)
SUBJECTS = frozenset(["I", "you", "we", "they", "You", "We", "They"])
STOPS = frozenset(";:,.!?")
NEIGHBOURS = 3
"""Words before and after that tell words of one spelling apart."""
AGAIN = "ɹˈi"
"""The prefix of "re-record", which is not the note "re"."""
MOST_PARTS = 6
"""Parts of a compound that are looked up as one word, at most."""


@dataclass
class Token:
    """An English word, or a punctuation mark, of the spoken text."""

    text: str
    tag: str = ""
    phonemes: str = ""


class EnglishG2P:
    """Reads runs of English words from right to left, since short words lean on what follows."""

    def __init__(self, folder: Path, symbols: Symbols) -> None:
        self.lexicon = EnLexicon(folder / "en.lex", symbols)
        self._tagger = Tagger(self.lexicon.file)
        self._lts = LetterToSound(self.lexicon.file)
        self._heteronyms: dict[str, list[tuple[LazyPattern, LazyPattern, str]]] = {}
        for word, before, after, phonemes in rows("heteronyms.tsv"):
            left = LazyPattern(f"(?:.* )?(?:{before})" if before else ".*")
            right = LazyPattern(f"(?:{after})(?: .*)?" if after else ".*")
            rule = (left, right, phonemes)
            self._heteronyms.setdefault(word, []).append(rule)
        self._letters = {
            c: (self.lexicon.readings(c) or {}).get("DEFAULT", "") for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        }

    def __call__(self, texts: list[str], given: list[str] | None = None) -> list[str]:
        """Phonemes of each word of a run; punctuation marks stay, and words that `given` has symbols for."""
        tokens = [Token(text, tag) for text, tag in zip(texts, self._tagger(texts), strict=True)]
        _mark_commands(tokens)
        vowel_next: bool | None = None
        to_next = False
        for i in range(len(tokens) - 1, -1, -1):
            token = tokens[i]
            if given and given[i]:
                token.phonemes = given[i]
            elif token.text in STOPS:
                token.phonemes = token.text
            elif sound := self._by_neighbours(tokens, i):
                token.phonemes = sound
            else:
                token.phonemes = self._word(token, vowel_next, to_next).replace("ɾ", "T").replace("ʔ", "t")
            vowel_next = _starts_with_vowel(token.phonemes, vowel_next)
            to_next = token.text.lower() == "to"
        return [token.phonemes for token in tokens]

    def _by_neighbours(self, tokens: list[Token], i: int) -> str:
        """Phonemes of a word that heteronyms.tsv tells apart here, else ""."""
        rules = self._heteronyms.get(tokens[i].text.lower())
        if not rules:
            return ""
        before = " ".join(token.text.lower() for token in tokens[max(0, i - NEIGHBOURS) : i])
        after = " ".join(token.text.lower() for token in tokens[i + 1 : i + 1 + NEIGHBOURS])
        for left, right, phonemes in rules:
            if left.fullmatch(before) and right.fullmatch(after):
                return phonemes
        return ""

    def _word(self, token: Token, vowel_next: bool | None, to_next: bool) -> str:
        text = token.text
        found = self._function_word(text, token.tag, vowel_next, to_next)
        if found is None:
            found = self._known(text, token.tag, vowel_next)
        return self._parts(text, token.tag, vowel_next) if found is None else found

    def _function_word(self, word: str, tag: str, vowel_next: bool | None, to_next: bool) -> str | None:
        """Words whose sound depends on the next word or on their use; None for all others."""
        lower = word.lower() if word != word.upper() or len(word) == 1 else word
        if (lower == "a" and word != "A") or (word == "A" and tag == "DT"):
            listed = word == "A" and vowel_next is None
            return "ɐ" if tag == "DT" and not listed else "ˈA"
        if lower == "an":
            return "ɐn"
        if lower == "the":
            return "ði" if vowel_next else "ðə"
        if lower == "to":
            return {None: "tu", False: "tə", True: "tʊ"}[vowel_next]
        if lower == "in":
            return ("ˈ" if vowel_next is None or tag != "IN" else "") + "ɪn"
        if word == "am" and vowel_next is not None and not tag.startswith("NN"):
            return "ɐm"
        if word == "I" and tag == "PRP":
            return "ˌI"
        if lower == "by" and coarse(tag) == "ADV":
            return "bˈI"
        if lower == "used":
            return "jˈust" if to_next and tag in ("VBD", "JJ") else "jˈuzd"
        return None

    def _known(self, word: str, tag: str, vowel_next: bool | None) -> str | None:
        """Phonemes of a word that the lexicon holds, itself or as a stem; None otherwise."""
        mark = "" if word == word.lower() else PRIMARY if word == word.upper() else SECONDARY
        word = self._lowered(word, tag)
        for form in (
            word,
            word[:-2] + "'s" if word.endswith("s'") else "",
            word[:-1] if word.endswith("'") else "",
        ):
            if form and self.lexicon.knows(form):
                return self._look_up(form, tag, mark, vowel_next)
        for stem, add in self._stems(word):
            if stem is not None:
                sound = self._look_up(stem, tag, mark or (SECONDARY if add is add_ing else ""), vowel_next)
                return add(sound) if sound else None
        return None

    def _stems(self, word: str):  # type: ignore[no-untyped-def]
        lexicon = self.lexicon
        return (
            (lexicon.stem_s(word), add_s),
            (lexicon.stem_ed(word), add_ed),
            (lexicon.stem_ing(word), add_ing),
        )

    def _lowered(self, word: str, tag: str) -> str:
        """Lower case where capitals are only emphasis or the start of a sentence."""
        lower = word.lower()
        if word == lower or len(word) == 1 or not word.replace("'", "").isalpha() or self.lexicon.has(word):
            return word
        if (tag == "NNP" and len(word) <= 7) or word not in (word.upper(), lower.capitalize()):
            return word
        known = self.lexicon.has(lower) or any(stem for stem, _ in self._stems(lower))
        return lower if known else word

    def _look_up(self, word: str, tag: str, mark: str, vowel_next: bool | None) -> str | None:
        capitals = word == word.upper() and not self.lexicon.has(word, gold=True)
        if capitals:
            word = word.lower()
        name = capitals and tag == "NNP"
        readings = self.lexicon.readings(word, gold=name)
        sound = _choose(readings, tag, vowel_next) if readings else ""
        if not sound or (name and PRIMARY not in sound):
            return self.spell(word) or None
        return promote(sound, mark) if mark else sound

    def is_acronym(self, word: str) -> bool:
        """Whether a word in capitals is said letter by letter."""
        readings = self.lexicon.readings(word)
        if readings:
            return plain(readings["DEFAULT"]) == plain(self.spell(word))
        if self.lexicon.has(word.lower()):
            return False
        return len(word) < 5 or bool(UNSPEAKABLE.search(word))

    def spell(self, word: str) -> str:
        """Letter by letter, the last one stressed."""
        letters = [self._letters.get(c, "") for c in word.upper() if c.isalpha()]
        if not all(letters):
            return ""
        head, mark, tail = demote("".join(letters)).rpartition(SECONDARY)
        return head + PRIMARY + tail if mark else head + tail

    def _parts(self, word: str, tag: str, vowel_next: bool | None) -> str:
        """Compounds, camel case, unknown words: the longest known parts from the right, else by letters."""
        parts = list(PART.finditer(word))
        sounds: list[str] = []
        end = len(parts)
        while end:
            for first in range(max(0, end - MOST_PARTS), end):
                text = word[parts[first].start() : parts[end - 1].end()]
                sound = self._known(text, tag, vowel_next) if (first or end < len(parts)) else None
                if sound or first == end - 1:
                    break
            if sounds and text.lower() == "re":
                sound = AGAIN
            sounds.append(sound or self._unknown(text))
            vowel_next = _starts_with_vowel(sounds[-1], vowel_next)
            end = first
        return "".join(compound(sounds[::-1]))

    def _unknown(self, word: str) -> str:
        lower = word.lower()
        for ending, add in (("'s", add_s), ("s'", add_s)):
            if lower.endswith(ending) and len(lower) > 3:
                return add(self._lts(lower[: -len(ending)]))
        guess = self._lts(lower)
        return promote(guess) if VOWELS.intersection(guess) else self.spell(word)


def _mark_commands(tokens: list[Token]) -> None:
    """A word that starts a clause and has an object is a command ("Record the song."); after "I", a verb."""
    starts, subject = True, False
    for token, following in pairwise(tokens):
        is_command = starts and following.text in OBJECTS | {"to"}
        if (is_command or subject) and token.tag in ("NN", "NNP", "JJ", "RB"):
            token.tag = "VB"
        starts, subject = token.text in STOPS, token.text in SUBJECTS


def _choose(readings: dict[str, str], tag: str, vowel_next: bool | None) -> str:
    """The reading for the tag; "None" is the one before a pause."""
    if vowel_next is None and "None" in readings:
        return readings["None"]
    return readings.get(tag, readings.get(coarse(tag), readings["DEFAULT"]))


def _starts_with_vowel(phonemes: str, otherwise: bool | None) -> bool | None:
    for symbol in phonemes:
        if symbol in STOPS:
            return None
        if symbol in VOWELS or symbol in CONSONANTS:
            return symbol in VOWELS
    return otherwise
