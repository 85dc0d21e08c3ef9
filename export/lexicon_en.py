"""Compiles en.lex: misaki's American lexicons (gold: hand-checked; silver), tagger, letter-to-sound model."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from stonechat.export.lexicon_file import Sections, table
from stonechat.export.lexicon_tags import compile_tags
from stonechat.export.lts import train, words_of
from stonechat.text.lexicon import LexiconFile
from stonechat.text.stress import SECONDARY, promote
from stonechat.text.symbols import Symbols
from stonechat.text.words_en import GOLD, TAGS, VARIANT, EnLexicon, add_ed, add_ing, add_s

HOME = Path(__file__).parent.parent / "runtime" / "data" / "lexicon"
Entry = str | dict[str, str | None]


def misaki(name: str) -> dict[str, Entry]:
    """One of misaki's JSON lexicons, without importing misaki (it wants spaCy)."""
    spec = find_spec("misaki")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("misaki's lexicons are missing: pip install --no-deps misaki==0.9.4")
    folder = Path(spec.submodule_search_locations[0])
    lexicon: dict[str, Entry] = json.loads((folder / "data" / f"{name}.json").read_text("utf-8"))
    return lexicon


def extra_words() -> dict[str, Entry]:
    """Words of our own, from the table beside this file."""
    rows = (Path(__file__).parent / "lexicon_en_words.tsv").read_text("utf-8").splitlines()
    pairs = [row.split("\t") for row in rows if row and row[0] != "#"]
    return {pair[0]: pair[1] for pair in pairs}


def encode(symbols: Symbols, entry: Entry, flags: int) -> bytes:
    """One value of the words table."""
    readings = {"DEFAULT": entry} if isinstance(entry, str) else entry
    out = bytes([flags]) + bytes(symbols.encode(readings["DEFAULT"] or ""))
    for tag, phonemes in readings.items():
        if tag != "DEFAULT":
            out += bytes([VARIANT, TAGS.index(tag)]) + bytes(symbols.encode(phonemes or ""))
    return out


class Kept(EnLexicon):
    """The words kept so far, with the runtime's own way of finding stems among them."""

    def __init__(self) -> None:
        self.words: set[str] = set()

    def has(self, word: str, gold: bool = False) -> bool:
        lower = word.lower()
        return word in self.words or lower in self.words or lower.capitalize() in self.words


def inflected(word: str, entries: dict[str, Entry], kept: Kept) -> bool:
    """Whether the runtime's inflection rules give the word's entry from a kept word, so that it can go."""
    said = entries[word]
    if not isinstance(said, str) or word != word.lower() or len(word) < 4 or word.capitalize() in entries:
        return False
    for stem, add in (
        (kept.stem_s(word), add_s),
        (kept.stem_ed(word), add_ed),
        (kept.stem_ing(word), add_ing),
    ):
        if stem is not None:
            base = entries.get(stem)
            if not isinstance(base, str):
                return False
            return add(promote(base, SECONDARY) if add is add_ing else base) == said
    return False


def without_inflections(entries: dict[str, Entry]) -> dict[str, Entry]:
    """The entries that no rule makes; short words first, since stems are shorter."""
    kept = Kept()
    for word in sorted(entries, key=lambda w: (len(w), w)):
        if not inflected(word, entries, kept):
            kept.words.add(word)
    return {word: entry for word, entry in entries.items() if word in kept.words}


def models_of(path: Path) -> Sections:
    """The tagger's and the letter-to-sound sections of a compiled lexicon."""
    file = LexiconFile(path)
    names = ("tags", "tags.fixed", "tags.fixed.at", "tags.weights", "tags.weights.at", "lts", "lts.units")
    return {name: bytes(file.bytes(name)) for name in names}


def compile_en(models: Path | None = None) -> Sections:
    """The sections of en.lex; the models come from the lexicon `models`, if given, else they are trained."""
    symbols = Symbols(HOME / "symbols.tsv")
    gold, silver = misaki("us_gold"), misaki("us_silver")
    kept = without_inflections({**silver, **gold, **extra_words()})
    entries = {w.encode("utf-8"): encode(symbols, e, 0 if w not in gold else GOLD) for w, e in kept.items()}
    print(f"en: {len(entries)} of {len(silver | gold)} words")
    made = models_of(models) if models else {**compile_tags(), **train(words_of(gold, silver))}
    return {**table("words", entries), **made}
