"""Trains the letter-to-sound model: an n-gram over graphones (a letter with the 0 to 3 phonemes it sounds).

Bisani and Ney (2008), Joint-sequence models for grapheme-to-phoneme conversion; alignments by expectation
maximisation, Kneser-Ney discounting, pruned by what each n-gram adds over its backoff.

    python -m stonechat.export.lts        trains on 95 % of the words and reports the error on the rest
"""

from __future__ import annotations

import math
import random
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from zlib import crc32

from stonechat.export.lexicon_file import Sections
from stonechat.text.lts import ORDER, START, STEP, END

TOKEN = re.compile("[ˈˌ]?[^ˈˌ]")
MAX_PHONES = 3
SLOTS = 1 << 18
NGRAMS = 200_000
DISCOUNT = 0.75
Pair = tuple[str, tuple[str, ...]]


def tokens(phonemes: str) -> tuple[str, ...]:
    """Phonemes, a stress mark joined to its vowel."""
    return tuple(TOKEN.findall(phonemes))


def _paths(word: str, phones: tuple[str, ...]) -> Iterator[tuple[int, int, int]]:
    """Every (letter index, phone from, phone to) that a monotone alignment may use."""
    for i in range(len(word)):
        for a in range(len(phones) + 1):
            if a > MAX_PHONES * i or len(phones) - a > MAX_PHONES * (len(word) - i):
                continue
            for b in range(a, min(len(phones), a + MAX_PHONES) + 1):
                yield i, a, b


def _expect(pairs: list[Pair], chance: dict[tuple[str, tuple[str, ...]], float]) -> Counter[tuple[str, tuple[str, ...]]]:
    """Expected counts of (letter, phones) under the chances so far."""
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for word, phones in pairs:
        n, m = len(word), len(phones)
        arcs = [(i, a, b, (word[i], phones[a:b])) for i, a, b in _paths(word, phones)]
        forward = [[0.0] * (m + 1) for _ in range(n + 1)]
        backward = [[0.0] * (m + 1) for _ in range(n + 1)]
        forward[0][0] = backward[n][m] = 1.0
        weights = [chance.get(unit, 1e-6 if not chance else 1e-9) for *_, unit in arcs]
        for (i, a, b, _), w in zip(arcs, weights, strict=True):
            forward[i + 1][b] += forward[i][a] * w
        for (i, a, b, _), w in zip(reversed(arcs), reversed(weights), strict=True):
            backward[i][a] += backward[i + 1][b] * w
        total = forward[n][m]
        if total <= 0:
            continue
        for (i, a, b, unit), w in zip(arcs, weights, strict=True):
            counts[unit] += forward[i][a] * w * backward[i + 1][b] / total
    return counts


def learn_alignment(pairs: list[Pair], rounds: int = 6) -> dict[tuple[str, tuple[str, ...]], float]:
    """P(phones | letter) by expectation maximisation; starts by favouring one phone a letter."""
    chance: dict[tuple[str, tuple[str, ...]], float] = defaultdict(lambda: 1e-9)
    for word, phones in pairs:
        for i, a, b in _paths(word, phones):
            chance[word[i], phones[a:b]] = (0.2, 1.0, 0.05, 0.01)[b - a]
    for _ in range(rounds):
        counts = _expect(pairs, chance)
        totals: Counter[str] = Counter()
        for (letter, _), count in counts.items():
            totals[letter] += count
        chance = {unit: count / totals[unit[0]] for unit, count in counts.items() if count > 1e-3}
    return chance


def align(word: str, phones: tuple[str, ...], chance: dict[tuple[str, tuple[str, ...]], float]) -> list[tuple[str, tuple[str, ...]]] | None:
    """The likeliest graphones of a word."""
    n, m = len(word), len(phones)
    best: dict[tuple[int, int], tuple[float, int]] = {(0, 0): (0.0, 0)}
    for i, a, b in _paths(word, phones):
        p = chance.get((word[i], phones[a:b]), 0.0)
        if p <= 0 or (i, a) not in best:
            continue
        score = best[i, a][0] + math.log(p)
        if score > best.get((i + 1, b), (-math.inf, 0))[0]:
            best[i + 1, b] = (score, a)
    if (n, m) not in best:
        return None
    out, b = [], m
    for i in range(n, 0, -1):
        a = best[i, b][1]
        out.append((word[i - 1], phones[a:b]))
        b = a
    return out[::-1]


def ngram_counts(sequences: Iterable[str]) -> list[Counter[str]]:
    """Counts of n-grams by order; counts[n] holds those of n symbols."""
    counts: list[Counter[str]] = [Counter() for _ in range(ORDER + 1)]
    for sequence in sequences:
        padded = START * (ORDER - 1) + sequence + END
        for i in range(ORDER - 1, len(padded)):
            for n in range(1, ORDER + 1):
                counts[n][padded[i - n + 1 : i + 1]] += 1
    return counts


def smoothed(counts: list[Counter[str]]) -> tuple[dict[str, float], dict[str, float]]:
    """Interpolated Kneser-Ney: log P(last | before) by n-gram, and log backoff weight by context."""
    use: list[Counter[str]] = [Counter() for _ in range(ORDER + 1)]
    use[ORDER] = counts[ORDER]
    for n in range(ORDER - 1, 0, -1):  # lower orders count the contexts a symbol was seen in
        for gram in counts[n + 1]:
            use[n][gram[1:]] += 1
        for gram, count in counts[n].items():
            if gram.startswith(START):
                use[n][gram] = count
    probability: dict[str, float] = {}
    backoff: dict[str, float] = {}
    total = sum(use[1].values())
    for gram, count in use[1].items():
        probability[gram] = count / total
    for n in range(2, ORDER + 1):
        sums: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for gram, count in use[n].items():
            sums[gram[:-1]] += count
            kinds[gram[:-1]] += 1
        for context, count in sums.items():
            backoff[context] = DISCOUNT * kinds[context] / count
        for gram, count in use[n].items():
            context = gram[:-1]
            probability[gram] = max(count - DISCOUNT, 0) / sums[context] + backoff[context] * probability[gram[1:]]
    return probability, backoff


def prune(counts: list[Counter[str]], probability: dict[str, float], backoff: dict[str, float]) -> list[str]:
    """The NGRAMS n-grams that matter most: all single graphones, then those that differ most from their backoff."""
    scored = []
    for gram, p in probability.items():
        if len(gram) == 1:
            continue
        lower = backoff[gram[:-1]] * probability[gram[1:]]
        scored.append((counts[len(gram)][gram] * (math.log(p) - math.log(lower)), gram))
    scored.sort(reverse=True)
    kept = [gram for gram in probability if len(gram) == 1]
    return kept + [gram for _, gram in scored[: NGRAMS - len(kept)]]


def quantise(log: float) -> int:
    return min(255, max(0, round(-log / STEP)))


def pack(kept: list[str], probability: dict[str, float], backoff: dict[str, float]) -> bytes:
    """Open-addressing table of u32: 16 bits of the key's hash, its cost, its context's backoff cost."""
    slots = array("I", bytes(4 * SLOTS))
    for gram in kept:
        hashed = crc32(gram.encode("utf-16-le"))
        slot = hashed % SLOTS
        while slots[slot]:
            slot = (slot + 1) % SLOTS
        cost = max(1, quantise(math.log(probability[gram])))
        away = quantise(math.log(backoff[gram])) if gram in backoff else 0
        slots[slot] = (hashed >> 16) << 16 | cost << 8 | away
    return slots.tobytes()


def train(pairs: list[Pair]) -> Sections:
    """The model's sections of en.lex: "lts" (n-grams) and "lts.units" (graphones, one a line: letter, phones)."""
    sample = random.Random(1).sample(pairs, min(len(pairs), 25_000))
    chance = learn_alignment(sample)
    aligned = [a for word, phones in pairs if (a := align(word, phones, chance))]
    seen = Counter(unit for sequence in aligned for unit in sequence)
    units = sorted((u for u, n in seen.items() if n > 3), key=lambda u: (u[0], -seen[u]))
    code = {unit: chr(i + 3) for i, unit in enumerate(units)}
    sequences = ["".join(code[u] for u in seq) for seq in aligned if all(u in code for u in seq)]
    counts = ngram_counts(sequences)
    probability, backoff = smoothed(counts)
    kept = prune(counts, probability, backoff)
    print(f"letter to sound: {len(sequences)} words, {len(units)} graphones, {len(kept)} of {len(probability)} n-grams")
    listing = "\n".join(letter + "".join(phones) for letter, phones in units)
    return {"lts": pack(kept, probability, backoff), "lts.units": listing.encode("utf-8")}


def words_of(*lexicons: Mapping[str, object]) -> list[Pair]:
    """Training pairs: plain lower-case words and their default readings."""
    pairs = {}
    for lexicon in lexicons:
        for word, entry in lexicon.items():
            phonemes = entry if isinstance(entry, str) else entry["DEFAULT"] if isinstance(entry, dict) else ""
            lower = word.lower()
            if lower.isascii() and lower.isalpha() and len(word) > 1 and not word.isupper() and phonemes:
                pairs.setdefault(lower, (lower, tokens(phonemes)))
    return list(pairs.values())


def distance(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Edit distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def main() -> None:
    """Held-out error: 5 % of the words, phonemes with and without stress."""
    import tempfile
    from pathlib import Path

    from stonechat.export.lexicon_en import misaki
    from stonechat.export.lexicon_file import write
    from stonechat.text.lexicon import LexiconFile
    from stonechat.text.lts import LetterToSound

    pairs = words_of(misaki("us_gold"), misaki("us_silver"))
    random.Random(7).shuffle(pairs)
    held = pairs[: len(pairs) // 20][:4000]
    path = Path(tempfile.mkdtemp()) / "trial.lex"
    write(path, train(pairs[len(pairs) // 20 :]))
    model = LetterToSound(LexiconFile(path))
    wrong = bare = total = 0
    for word, phones in held:
        said = tokens(model(word))
        wrong += distance(phones, said)
        bare += distance(tuple(p.strip("ˈˌ") for p in phones), tuple(p.strip("ˈˌ") for p in said))
        total += len(phones)
    print(f"{len(held)} held-out words: phoneme error {wrong / total:.2%} with stress, {bare / total:.2%} without")


if __name__ == "__main__":
    main()
