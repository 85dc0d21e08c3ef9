"""How right the text frontend is: cases that must pass, pinyin, English lexicon, letter-to-sound."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from stonechat.text import Frontend
from stonechat.text.frontend import HOME
from stonechat.text.stress import SECONDARY, promote
from stonechat.text.symbols import Symbols
from stonechat.text.words_en import EnLexicon, add_ed, add_ing, add_s


class Row(NamedTuple):
    """One figure; `bar` says what it must not pass."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    at_least: bool = False

    def __str__(self) -> str:
        if self.bar is None:
            return f"{self.name:<46}{self.value:10.3f} {self.unit}"
        kept = self.value >= self.bar if self.at_least else self.value <= self.bar
        sign = ">=" if self.at_least else "<="
        return (
            f"{self.name:<46}{self.value:10.3f} {self.unit:<4} {sign} {self.bar:g} {'' if kept else 'MISSED'}"
        )


def plain(text: str) -> set[str]:
    """Lower case without punctuation and hyphens; also without the spaces around Chinese."""
    text = " ".join(re.sub(r"[^\w\s]|_", " ", text.lower()).split())
    return {text, re.sub(r"(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])", "", text)}


def cases(frontend: Frontend, folder: Path) -> Iterator[Row]:
    """Share of each file's cases that pass; those that fail are printed."""
    checks: dict[str, Callable[[dict[str, object]], bool]] = {
        "accept": lambda case: any(
            re.fullmatch(str(pattern).lower(), said)
            for pattern in case["accept"]  # type: ignore[attr-defined]
            for said in plain(frontend.normalise(str(case["text"])))
        ),
        "pinyin": lambda case: frontend.phonemes(str(case["text"]), "pinyin") == case["pinyin"],
        "text": lambda case: list(frontend.clauses(str(case["text"]))) is not None,  # survives
    }
    if not folder.is_dir():
        print(f"{folder} is not there: its cases are left out")
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        passed = 0
        for row in rows:
            ok = next(check for field, check in checks.items() if field in row)(row)
            passed += ok
            if not ok:
                print(f"  {row['text']!r}: {frontend.normalise(row['text'])!r}")
        yield Row(
            f"{folder.parent.name}/{path.name}, {len(rows)} cases", 100 * passed / len(rows), "%", 100, True
        )


def mandarin(frontend: Frontend) -> Iterator[Row]:
    """Syllables with tone as hsk-sentences-audio writes them, before sandhi; the commonest differences are printed."""
    if not find_spec("hsk_sentences_audio"):
        print("hsk-sentences-audio is not installed: no pinyin accuracy")
        return
    from hsk_sentences_audio import load_sentences

    total = wrong = 0
    differences: Counter[str] = Counter()
    for row in load_sentences():
        wanted = row["pinyin_numbered"].replace("u:", "v").replace("ü", "v").split()
        said = frontend.phonemes(row["chinese"], "pinyin", sandhi=False).split()
        total += len(wanted)
        if len(said) != len(wanted):
            wrong += len(wanted)
            differences[f"{row['chinese']}: {len(said)} syllables, not {len(wanted)}"] += 1
            continue
        chars = re.findall(r"[\u3400-\u9fff]", row["chinese"])
        for char, want, got in zip(chars, wanted, said, strict=False):
            if want != got:
                wrong += 1
                differences[f"{char}: {got}, there {want}"] += 1
    print("  ", "; ".join(f"{text} ({count})" for text, count in differences.most_common(12)))
    yield Row(f"pinyin, {total} syllables", 100 * (1 - wrong / total), "%", 99, True)


def english() -> Iterator[Row]:
    """Words of misaki's lexicons that the compiled one, with its inflection rules, reads as they do."""
    if not find_spec("misaki"):
        print("misaki is not installed: no English accuracy")
        return
    from stonechat.export.lexicon_en import extra_words, misaki

    lexicon = EnLexicon(HOME / "en.lex", Symbols(HOME / "symbols.tsv"))
    entries = {**misaki("us_silver"), **misaki("us_gold"), **extra_words()}
    right = sum(
        read_word(lexicon, word) == (entry if isinstance(entry, str) else entry["DEFAULT"])
        for word, entry in entries.items()
    )
    yield Row(f"English lexicon, {len(entries)} words", 100 * right / len(entries), "%", 100, True)


def read_word(lexicon: EnLexicon, word: str) -> str:
    """Symbols of a word that the lexicon holds or makes by inflection, "" for others."""
    readings = lexicon.readings(word)
    if readings:
        return readings["DEFAULT"]
    stems = (
        (lexicon.stem_s(word), add_s),
        (lexicon.stem_ed(word), add_ed),
        (lexicon.stem_ing(word), add_ing),
    )
    for stem, add in stems:
        if stem:
            said = (lexicon.readings(stem) or {}).get("DEFAULT", "")
            return add(promote(said, SECONDARY) if add is add_ing else said)
    return ""


def held_out() -> Iterator[Row]:
    """Phoneme error of letter-to-sound on words it was not trained on."""
    if not find_spec("misaki"):
        return
    from stonechat.export.lexicon_en import misaki
    from stonechat.export.lts import held_out_errors, words_of

    stressed, bare = held_out_errors(words_of(misaki("us_gold"), misaki("us_silver")), 1000)
    yield Row("letter to sound, 1000 words held out", 100 * stressed, "%", 12)
    yield Row("the same without stress marks", 100 * bare, "%")
