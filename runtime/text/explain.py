"""Why a text is said as it is: which rule wrote each span, and where each word's pronunciation comes from.

The G2Ps that tell are the runtime's own with a pencil in hand: subclasses that note which step found a sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .document import Document
from .g2p_en import STOPS, EnglishG2P
from .g2p_zh import ChineseG2P, SpokenWord
from .given import MARK, Given, given_at
from .pronounce import Places, Unit, units
from .segment import ZhWord
from .types import AS_WRITTEN, LEFT_OUT, PLAIN_FORM, Explained, Piece, Sentence


def spans(text: str, sentences: Iterable[Sentence]) -> Iterator[Explained]:
    """Every span of the text in order, those that are left out as well."""
    at = 0
    for sentence in sentences:
        for piece in sentence.pieces:
            for span in _piece(text, piece, sentence.given):
                yield from _left_out(text, at, span.start)
                yield span
                at = max(at, span.end)
    yield from _left_out(text, at, len(text))


def in_source(text: str | Document, found: Iterable[Explained]) -> Iterator[Explained]:
    """The same with places in the source of a document that has markup, and its breaks named."""
    told = -1
    for span in found:
        if isinstance(text, Document):
            start, end = text.source_span(span.start, span.end)
            given = text.objects.get(span.start)
            if given and given.is_cut and (told == start or start == end):
                continue
            rule = given.origin if given and given.is_cut else span.rule
            span = replace(span, source=text.source[start:end], start=start, end=end, rule=rule)
            told = start
        yield span


def _left_out(text: str, start: int, end: int) -> Iterator[Explained]:
    source = text[start:end]
    if source.strip():
        start += len(source) - len(source.lstrip())
        yield Explained(source.strip(), start, start + len(source.strip()), "", LEFT_OUT)


def _piece(text: str, piece: Piece, given: tuple[Given, ...]) -> Iterator[Explained]:
    """The spans of one piece: a rule's reading, or the parts of what stayed."""
    if piece.rule:
        if piece.end > piece.start:
            source = text[piece.start : piece.end]
            yield Explained(source, piece.start, piece.end, " ".join(piece.text.split()), piece.rule)
        return
    first = 0
    for i in range(1, len(piece.text) + 1):
        if i == len(piece.text) or _differ(text, piece, i):
            span = _stayed(text, piece, first, i, given)
            if span.source.strip():
                yield span
            first = i


def _differ(text: str, piece: Piece, i: int) -> bool:
    """Whether character i of a literal piece goes another way than the one before it."""
    here, back = piece.offsets[i], piece.offsets[i - 1]
    if MARK.match(piece.text[i]) or MARK.match(piece.text[i - 1]):
        return True
    is_joined = here in (back, back + 1)
    return not is_joined or (text[here] == piece.text[i]) != (text[back] == piece.text[i - 1])


def _stayed(text: str, piece: Piece, first: int, last: int, given: tuple[Given, ...]) -> Explained:
    start, end = piece.source(first, last)
    spoken = piece.text[first:last]
    if word := given_at(spoken, given):
        start -= word.origin == "inline"  # the bracket before it
        return Explained(text[start:end], start, end, word.word, word.origin)
    source = text[start:end]
    rule = AS_WRITTEN if spoken == source else PLAIN_FORM if spoken.strip() else LEFT_OUT
    start += len(source) - len(source.lstrip())
    return Explained(source.strip(), start, start + len(source.strip()), " ".join(spoken.split()), rule)


def words(text: str, sentence: Sentence, zh: ChineseG2P, en: EnglishG2P) -> Iterator[Explained]:
    """Every word and pause of one sentence."""
    chinese, english = TellingChinese(zh), TellingEnglish(en)
    found = units(sentence, chinese, english)
    places = Places(sentence)
    told = {"zh": iter(chinese.told), "en": iter(english.told)}
    for unit in found:
        start, end = places.source(unit.start, unit.end)
        spoken = sentence.spoken[unit.start : unit.end]
        word = given_at(spoken, sentence.given)
        origin = "pause" if unit.kind in ("mark", "cut") else next(told[unit.kind])
        yield Explained(
            source=text[start:end],
            start=start,
            end=end,
            spoken=word.word if word else spoken.strip(),
            rule=word.origin if word else _rules(sentence, unit),
            phonemes=unit.phonemes,
            pinyin=unit.pinyin,
            origin=word.origin if word else origin,
        )


def _rules(sentence: Sentence, unit: Unit) -> str:
    """Names of the rules that wrote a unit's text."""
    names = [
        piece.rule or AS_WRITTEN
        for at, piece in sentence.spans()
        if at < unit.end and unit.start < at + len(piece.text) and piece.rule != "space"
    ]
    return ", ".join(dict.fromkeys(names))


class TellingChinese(ChineseG2P):
    """Notes in `told` where each spoken word's syllables come from."""

    def __init__(self, plain: ChineseG2P) -> None:
        self.__dict__.update(plain.__dict__)
        self.told: list[str] = []

    def __call__(self, run: str) -> list[SpokenWord]:
        found = super().__call__(run)
        for i, word in enumerate(found, len(self.told) - len(found)):
            self.told[i] = ", ".join([self.told[i], *_sandhi(word)])
        return found

    def _in_context(self, run: str, word: ZhWord) -> ZhWord:
        found = super()._in_context(run, word)
        self.told.append(self._source(word) if found == word else "polyphone rule")
        return found

    def _source(self, word: ZhWord) -> str:
        if self.lexicon.is_user_word(word.text):
            return "user dictionary"
        if len(word.text) == 1:
            return "character"
        usual = tuple(self.lexicon.reading(char) for char in word.text)
        return "word list" if word.syllables == usual else "phrase with its own reading"


def _sandhi(word: SpokenWord) -> Iterator[str]:
    """The tone changes of a word, each named once."""
    changes = {}
    for char, before, after in zip(word.text, word.lexical, word.syllables, strict=False):
        if before != after:
            is_third = before[-1] == "3" and after[-1] == "2"
            changes["third-tone sandhi" if is_third else f"{char} sandhi"] = True
    return iter(changes)


class TellingEnglish(EnglishG2P):
    """Notes in `told` where each spoken word's symbols come from; a compound has several sources."""

    def __init__(self, plain: EnglishG2P) -> None:
        self.__dict__.update(plain.__dict__)
        self.told: list[str] = []
        self._at = 0
        self._notes: dict[int, list[str]] = {}

    def __call__(self, texts: list[str], given: list[str] | None = None) -> list[str]:
        self._notes = {}
        sounds = super().__call__(texts, given)
        for i, (text, sound) in enumerate(zip(texts, sounds, strict=True)):
            if sound and text not in STOPS:
                self.told.append(_origin(text, self._notes.get(i, [])))
        return sounds

    def _note(self, source: str) -> None:
        self._notes.setdefault(self._at, []).append(source)

    def _by_neighbours(self, tokens, i):  # type: ignore[no-untyped-def]
        self._at = i
        sound = super()._by_neighbours(tokens, i)
        if sound:
            self._note("word before or after it")
        return sound

    def _function_word(self, word, *rest):  # type: ignore[no-untyped-def]
        sound = super()._function_word(word, *rest)
        if sound is not None:
            self._note("function word")
        return sound

    def _look_up(self, word, tag, *rest):  # type: ignore[no-untyped-def]
        before = len(self._notes.get(self._at, []))
        sound = super()._look_up(word, tag, *rest)
        if sound and len(self._notes.get(self._at, [])) == before:
            readings = self.lexicon.readings(word) or self.lexicon.readings(word.lower()) or {}
            self._note(f"lexicon {word!r}" + (f" as {tag}" if len(readings) > 1 else ""))
        return sound

    def _unknown(self, word: str) -> str:
        before = len(self._notes.get(self._at, []))
        sound = super()._unknown(word)
        if len(self._notes.get(self._at, [])) == before:
            self._note("letter to sound")
        return sound

    def spell(self, word: str) -> str:
        self._note("letter by letter")
        return super().spell(word)


def _origin(word: str, notes: list[str]) -> str:
    """The notes on one word, which were made from its end to its beginning."""
    found = list(dict.fromkeys(reversed(notes)))
    is_inflected = (
        len(found) == 1 and found[0].startswith("lexicon") and f"{word.lower()!r}" not in found[0].lower()
    )
    return " + ".join(found) + (", inflected" if is_inflected else "")
