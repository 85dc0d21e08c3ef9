"""Trains the letter-to-sound model: an n-gram over graphones (a letter with the 0 to 3 phonemes it sounds).

Bisani and Ney (2008), Joint-sequence models for grapheme-to-phoneme conversion; interpolated Kneser-Ney,
pruned by what each n-gram adds over its backoff.

    python -m stonechat.export.lts        trains on 95 % of the words and reports the error on the rest
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from stonechat.export.lexicon_file import Sections, write
from stonechat.export.lts_align import MAX_PHONES, batches, best, learn
from stonechat.text.lexicon import LexiconFile
from stonechat.text.lts import END, FIRST_CODE, ORDER, START, STEP, LetterToSound

TOKEN = re.compile("[ˈˌ]?[^ˈˌ]")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALIGNED_ON = 15_000
"""Words that the alignment is learnt on; it is the same on more."""
ROUNDS = 5
MIN_SEEN = 4
"""Graphones seen less often are left out, with their words."""
SLOTS = 125_000
NGRAMS = 86_000
"""Fewer than SLOTS, so that a missing n-gram is seldom mistaken for another."""
DISCOUNT = 0.8
BITS = 10
"""Bits a graphone's code takes in a packed n-gram."""
Pair = tuple[str, tuple[str, ...]]


def tokens(phonemes: str) -> tuple[str, ...]:
    """Phonemes, a stress mark joined to its vowel."""
    return tuple(TOKEN.findall(phonemes))


def words_of(*lexicons: Mapping[str, object]) -> list[Pair]:
    """Training pairs: plain lower-case words and their default readings."""
    pairs: dict[str, Pair] = {}
    for lexicon in lexicons:
        for word, entry in lexicon.items():
            phonemes = (
                entry if isinstance(entry, str) else entry["DEFAULT"] if isinstance(entry, dict) else ""
            )
            lower = word.lower()
            if lower.isascii() and lower.isalpha() and len(word) > 1 and not word.isupper() and phonemes:
                pairs.setdefault(lower, (lower, tokens(phonemes)))
    return list(pairs.values())


def graphones(pairs: list[Pair]) -> tuple[list[list[int]], list[str]]:
    """Every word as graphone codes, and the graphones ("a" + phones) by code - FIRST_CODE."""
    names = sorted({phone for _, phones in pairs for phone in phones})
    number = {phone: i + 1 for i, phone in enumerate(names)}
    base = len(names) + 1
    letters = [[LETTERS.index(c) for c in word] for word, _ in pairs]
    phones = [[number[p] for p in said] for _, said in pairs]
    chance = learn(batches(letters[:ALIGNED_ON], phones[:ALIGNED_ON]), len(LETTERS), base, ROUNDS)
    aligned: list[np.ndarray] = []
    for batch in batches(letters, phones):
        units, fits = best(batch, chance, base)
        aligned += list(units[fits])
    kinds, counts = np.unique(np.concatenate(aligned), return_counts=True)
    kept = kinds[counts >= MIN_SEEN]
    code = {int(unit): FIRST_CODE + i for i, unit in enumerate(kept)}
    rows = [[code.get(int(unit), 0) for unit in row] for row in aligned]
    return [row for row in rows if all(row)], [_unit_text(int(unit), base, names) for unit in kept]


def _unit_text(unit: int, base: int, names: list[str]) -> str:
    letter, rest = divmod(unit, base**MAX_PHONES)
    phones = ""
    while rest:
        rest, phone = divmod(rest, base)
        phones = names[phone - 1] + phones
    return LETTERS[letter] + phones


@dataclass
class Level:
    """The n-grams of one order, packed and sorted, with counts, probabilities and their contexts' backoff."""

    grams: np.ndarray
    counts: np.ndarray
    probability: np.ndarray
    lower: np.ndarray
    contexts: np.ndarray
    backoff: np.ndarray


def count(rows: list[list[int]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Packed n-grams and their counts, for n = 1..ORDER."""
    start, end = [ord(START)] * (ORDER - 1), [ord(END)]
    flat = np.array([code for row in rows for code in start + row + end], np.int64)
    real = np.flatnonzero(flat != ord(START))
    out = []
    packed = np.zeros(len(real), np.int64)
    for n in range(ORDER):
        packed |= flat[real - n] << (BITS * n)
        out.append(np.unique(packed, return_counts=True))
    return out


def levels(counted: list[tuple[np.ndarray, np.ndarray]]) -> list[Level]:
    """Interpolated Kneser-Ney: lower orders count the contexts that a graphone was seen in."""
    out: list[Level] = []
    for n, (grams, counts) in enumerate(counted, 1):
        use = counts.astype(float)
        if n < ORDER:
            shorter = counted[n][0] & ((1 << BITS * n) - 1)
            use = np.bincount(np.searchsorted(grams, shorter), minlength=len(grams)).astype(float)
            at_start = grams >> BITS * (n - 1) == ord(START)
            use[at_start] = counts[at_start]
        contexts, inverse = np.unique(grams >> BITS, return_inverse=True)
        sums = np.bincount(inverse, use)
        if n == 1:
            probability = lower = use / use.sum()
            backoff = np.ones(1)
        else:
            backoff = DISCOUNT * np.bincount(inverse) / sums
            below = out[-1].probability[np.searchsorted(out[-1].grams, grams & ((1 << BITS * (n - 1)) - 1))]
            lower = backoff[inverse] * below
            probability = np.maximum(use - DISCOUNT, 0) / sums[inverse] + lower
        out.append(Level(grams, counts, probability, lower, contexts, backoff))
    return out


def choose(found: list[Level]) -> list[np.ndarray]:
    """Which n-grams of each order stay: all of one graphone, those that add most, and their contexts."""
    gains = [level.counts * np.log(level.probability / level.lower) for level in found[1:]]
    room = int(0.95 * NGRAMS) - len(found[0].grams)  # the rest is for contexts
    bar = np.sort(np.concatenate(gains))[-room] if sum(map(len, gains)) > room else -1.0
    kept = [np.ones(len(found[0].grams), bool), *(gain > bar for gain in gains)]
    for n in range(ORDER - 1, 0, -1):
        contexts = np.unique(found[n].grams[kept[n]] >> BITS)
        at = np.minimum(np.searchsorted(found[n - 1].grams, contexts), len(found[n - 1].grams) - 1)
        kept[n - 1][at[found[n - 1].grams[at] == contexts]] = True
    return [np.flatnonzero(mask) for mask in kept]


def _costs(weights: np.ndarray, least: int) -> np.ndarray:
    return np.clip(np.round(-np.log(weights) / STEP), least, 255).astype(int)


def pack(found: list[Level], kept: list[np.ndarray]) -> bytes:
    """Open-addressing table of u32: 16 bits of the key's hash, the n-gram's cost, its backoff."""
    slots = array("I", bytes(4 * SLOTS))

    def put(gram: int, size: int, cost: int, away: int) -> None:
        text = "".join(chr(gram >> BITS * i & (1 << BITS) - 1) for i in range(size - 1, -1, -1))
        hashed = crc32(text.encode("utf-16-le"))
        slot = hashed % SLOTS
        while slots[slot]:
            slot = (slot + 1) % SLOTS
        slots[slot] = (hashed >> 16) << 16 | cost << 8 | away

    start = 0
    for n, (level, rows) in enumerate(zip(found, kept, strict=True), 1):
        costs = _costs(level.probability, 1)
        away = np.zeros(len(level.grams), int)
        if n < ORDER:
            above, weights = found[n], _costs(found[n].backoff, 0)
            at = np.minimum(np.searchsorted(above.contexts, level.grams), len(above.contexts) - 1)
            seen = above.contexts[at] == level.grams
            away[seen] = weights[at[seen]]
            start = start << BITS | ord(START)  # the word's start is a context, but no n-gram of its own
            place = int(np.searchsorted(above.contexts, start))
            put(start, n, 255, int(weights[place]) if above.contexts[place] == start else 0)
        for row in rows:
            put(int(level.grams[row]), n, int(costs[row]), int(away[row]))
    return slots.tobytes()


def train(pairs: list[Pair]) -> Sections:
    """The model's sections of en.lex: "lts" (n-grams) and "lts.units" (a graphone a line: letter, phones)."""
    rows, units = graphones(random.Random(1).sample(pairs, len(pairs)))
    found = levels(count(rows))
    kept = choose(found)
    size = sum(map(len, kept))
    print(f"letter to sound: {len(rows)} of {len(pairs)} words, {len(units)} graphones, {size} n-grams")
    return {"lts": pack(found, kept), "lts.units": "\n".join(units).encode("utf-8")}


def distance(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Edit distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def held_out_errors(pairs: list[Pair], held: int) -> tuple[float, float]:
    """Trains without `held` words; phoneme errors on them per phoneme, with stress and without."""
    random.Random(7).shuffle(pairs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trial.lex"
        write(path, train(pairs[held:]))
        model = LetterToSound(LexiconFile(path))
    wrong = bare = total = 0
    for word, phones in pairs[:held]:
        said = tokens(model(word))
        wrong += distance(phones, said)
        bare += distance(tuple(p.strip("ˈˌ") for p in phones), tuple(p.strip("ˈˌ") for p in said))
        total += len(phones)
    return wrong / total, bare / total


if __name__ == "__main__":
    from stonechat.export.lexicon_en import misaki

    held = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    stressed, bare = held_out_errors(words_of(misaki("us_gold"), misaki("us_silver")), held)
    print(f"{held} held-out words: phoneme error {stressed:.2%} with stress, {bare:.2%} without")
