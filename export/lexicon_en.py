"""Compiles en.lex: misaki's American lexicons (gold: hand-checked; silver), tagger, letter-to-sound model."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from stonechat.export.lexicon_file import Sections, table
from stonechat.export.lexicon_tags import compile_tags
from stonechat.export.lts import train, words_of
from stonechat.text.symbols import Symbols
from stonechat.text.words_en import GOLD, TAGS, VARIANT

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


def encode(symbols: Symbols, entry: Entry, flags: int) -> bytes:
    """One value of the words table."""
    readings = {"DEFAULT": entry} if isinstance(entry, str) else entry
    out = bytes([flags]) + bytes(symbols.encode(readings["DEFAULT"] or ""))
    for tag, phonemes in readings.items():
        if tag != "DEFAULT":
            out += bytes([VARIANT, TAGS.index(tag)]) + bytes(symbols.encode(phonemes or ""))
    return out


def compile_en() -> Sections:
    """The sections of en.lex."""
    symbols = Symbols(HOME / "symbols.tsv")
    gold, silver = misaki("us_gold"), misaki("us_silver")
    entries = {w.encode("utf-8"): encode(symbols, e, 0) for w, e in silver.items()}
    entries |= {w.encode("utf-8"): encode(symbols, e, GOLD) for w, e in gold.items()}
    print(f"en: {len(entries)} words")
    return {**table("words", entries), **compile_tags(), **train(words_of(gold, silver))}
