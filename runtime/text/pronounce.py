"""A normalised sentence to clauses: words to symbols, then cuts where the voice needs them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from .g2p_en import EnglishG2P
from .g2p_zh import ChineseG2P
from .given import FIRST, given_at, restored
from .scripts import HAN_CLASS
from .symbols import PAD, PAUSES, Symbols
from .tables import rows
from .types import Clause, Piece, Sentence, Word

LONGEST = 150
"""Symbols of a clause, pads included, that the voice was trained on."""
LONGEST_FIRST = 70
"""The same for the first clause of an utterance where a comma allows it."""
TOKEN = re.compile(
    rf"(?P<zh>[{HAN_CLASS}]+)|(?P<letters>[A-Z](?: [A-Z])+(?![a-zA-Z']))"
    r"|(?P<en>[A-Za-zÀ-ɏ]+(?:['-][A-Za-zÀ-ɏ]+)*'?)|(?P<given>[\ue000-\uf8ff])"
    r"|(?P<mark>[,.;:!?，。；：！？…—()（）]+|\s-+\s)"
)
MARKS = dict(zip("，。；：！？…—()（）-", ",.;:!?,,,,,,,", strict=True))
STRENGTH = ",:;.!?"
OPENERS = frozenset(row[0] for row in rows("openers.tsv"))
"""Words that begin a phrase: a clause too long for the voice is cut before one of them."""


@dataclass
class Unit:
    """A word or a pause of the spoken text: spoken[start:end]."""

    kind: str
    phonemes: str
    start: int
    end: int
    pinyin: str = ""
    """Syllables as spoken, or the English word."""
    lexical: str = ""
    """The same before tone sandhi."""
    space: bool = True
    """Whether a space stands before its symbols."""


@dataclass(frozen=True)
class EnglishWord:
    """An English word (or a punctuation mark between English words) at spoken[start:end]."""

    text: str
    start: int
    end: int
    given: str = ""
    """Its symbols where they are known beforehand."""


def units(sentence: Sentence, zh: ChineseG2P, en: EnglishG2P) -> list[Unit]:
    """Words and pauses of the sentence in order."""
    out: list[Unit] = []
    english: list[EnglishWord] = []
    for match in TOKEN.finditer(sentence.spoken):
        kind = match.lastgroup or ""
        if kind in ("en", "letters"):
            english.append(EnglishWord(match.group(), match.start(), match.end()))
            continue
        if kind == "given":
            word = sentence.given[ord(match.group()) - FIRST]
            if word.is_cut:
                out += [*_english(english, en), Unit("cut", "", match.start(), match.end())]
                continue
            english.append(EnglishWord(word.word, match.start(), match.end(), word.phonemes))
            continue
        if kind == "mark":
            mark = _mark(match.group())
            if english and not _chinese_follows(sentence, match.end()):
                english.append(EnglishWord(mark, match.start(), match.end()))
                continue
            out += _english(english, en)
            _add_pause(out, mark, match)
            continue
        out += _english(english, en)
        out += _chinese(match, zh)
    return _without_extra_pauses(out + _english(english, en))


def _chinese_follows(sentence: Sentence, at: int) -> bool:
    following = TOKEN.search(sentence.spoken, at)
    return sentence.lang == "mix" and (following is None or following.lastgroup == "zh")


def _mark(text: str) -> str:
    """The strongest pause among punctuation marks."""
    return max((MARKS.get(c, c) for c in text if not c.isspace()), key=STRENGTH.index)


def _add_pause(out: list[Unit], mark: str, match: re.Match[str]) -> None:
    # The training speech writes a space between an English word and punctuation inside Chinese text.
    out.append(Unit("mark", mark, match.start(), match.end(), space=bool(out) and out[-1].kind == "en"))


def _chinese(match: re.Match[str], zh: ChineseG2P) -> list[Unit]:
    base = match.start()
    return [
        Unit(
            "zh",
            word.phonemes,
            base + word.start,
            base + word.end,
            " ".join(word.syllables),
            " ".join(word.lexical),
        )
        for word in zh(match.group())
    ]


def _english(words: list[EnglishWord], en: EnglishG2P) -> list[Unit]:
    if not words:
        return []
    sounds = en([word.text.replace(" ", "") for word in words], [word.given for word in words])
    out = []
    for word, sound in zip(words, sounds, strict=True):
        if word.text in STRENGTH:
            out.append(Unit("mark", sound, word.start, word.end, space=False))
        elif sound:
            out.append(Unit("en", sound, word.start, word.end, word.text, word.text))
    words.clear()
    return out


def _without_extra_pauses(found: list[Unit]) -> list[Unit]:
    """No pause at the start, and of pauses in a row the strongest."""
    out: list[Unit] = []
    for unit in found:
        if unit.kind == "mark":
            if not out or out[-1].kind == "cut":
                continue
            if out[-1].kind == "mark":
                stronger = STRENGTH.index(unit.phonemes) > STRENGTH.index(out[-1].phonemes)
                out[-1].phonemes = unit.phonemes if stronger else out[-1].phonemes
                out[-1].end = unit.end
                continue
        out.append(unit)
    return out if any(unit.kind != "mark" for unit in out) else []


def clauses(sentence: Sentence, found: list[Unit], symbols: Symbols, ending: str = ".") -> Iterator[Clause]:
    """The units, cut into clauses of at most LONGEST symbols; the last one ends with `ending` if with no pause."""
    runs = list(_cut(found, LONGEST_FIRST if sentence.is_first else LONGEST, sentence.spoken))
    places = Places(sentence)
    for i, run in enumerate(runs):
        last = i == len(runs) - 1
        yield _clause(
            sentence, run, places, symbols, ending if last else ",", sentence.pause_s if last else 0.0
        )


def _cut(found: list[Unit], first_limit: int, spoken: str) -> Iterator[list[Unit]]:
    """Runs of units: to the last pause that fits, else to where a phrase begins, else to the last word that fits."""
    start, limit = 0, first_limit
    while start < len(found):
        size, pause, phrase, end = 2, 0, 0, start
        while end < len(found) and (end == start or size + len(found[end].phonemes) + 2 <= LONGEST):
            if size > LONGEST // 2 and spoken[found[end].start : found[end].end] in OPENERS:
                phrase = end
            size += len(found[end].phonemes) + found[end].space
            end += 1
            if found[end - 1].kind == "mark" and (size <= limit or (not pause and limit < LONGEST)):
                pause = end
        if end < len(found) or (size > limit and start == 0 and limit < LONGEST):
            end = pause or (phrase if end < len(found) else 0) or end
        if end < len(found) and found[end].kind == "mark":
            end += 1
        yield found[start:end]
        start, limit = end, LONGEST


class Places:
    """The way from spoken text back to the source."""

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._pieces: list[Piece] = []
        self._starts: list[int] = []
        for at, piece in sentence.spans():
            if piece.text:
                self._pieces.append(piece)
                self._starts.append(at)

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Source span of spoken[start:end]."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        piece, other = self._pieces[first], self._pieces[last]
        begin, _ = piece.source(start - self._starts[first], start - self._starts[first] + 1)
        _, stop = other.source(end - 1 - self._starts[last], end - self._starts[last])
        word = given_at(self._sentence.spoken[start:end], self._sentence.given)
        if word and word.origin == "inline":  # the word alone, without its pronunciation
            return begin, begin + len(word.word)
        return begin, max(begin, stop)


def _clause(
    sentence: Sentence, run: list[Unit], places: Places, symbols: Symbols, ending: str, pause_s: float
) -> Clause:
    phonemes = ""
    ids: list[int] = [PAD]
    words = []
    for unit in run:
        if (unit.space and phonemes) or (unit.kind != "mark" and phonemes[-1:] in PAUSES and phonemes):
            phonemes += " "
            ids += symbols.encode(" ")
        first = len(ids)
        phonemes += unit.phonemes
        ids += symbols.encode(unit.phonemes)
        if unit.kind != "mark":
            start, end = places.source(unit.start, unit.end)
            words.append(
                Word(
                    sentence.text[start - sentence.start : end - sentence.start], start, end, first, len(ids)
                )
            )
    if phonemes[-1] not in PAUSES:
        phonemes += ending
        ids += symbols.encode(ending)
    ids.append(PAD)
    start, end = words[0].start if words else sentence.start, places.source(run[-1].start, run[-1].end)[1]
    kinds = {unit.kind for unit in run} - {"mark"}
    lang = "mix" if len(kinds) > 1 else kinds.pop() if kinds else sentence.lang
    return Clause(
        ids=tuple(ids),
        phonemes=phonemes,
        words=tuple(words),
        lang=lang,
        text=sentence.text[start - sentence.start : end - sentence.start],
        spoken=restored(sentence.spoken[run[0].start : run[-1].end], sentence.given),
        pause_s=pause_s,
        pinyin=" ".join(unit.pinyin for unit in run if unit.pinyin),
    )
