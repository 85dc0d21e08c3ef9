"""Aligns spellings with pronunciations: each letter sounds 0 to 3 phonemes, by expectation maximisation.

Words of one shape (letters, phonemes) go through the dynamic programme together, as numpy arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

MAX_PHONES = 3
START_WEIGHTS = (0.2, 1.0, 0.05, 0.01)
"""How likely a letter sounds 0, 1, 2 or 3 phonemes before anything is known."""


@dataclass(frozen=True)
class Batch:
    """Words of one shape: letters (words, n) and phones (words, m), as numbers from 1; rows: their places."""

    letters: np.ndarray
    phones: np.ndarray
    rows: np.ndarray


def batches(letters: list[list[int]], phones: list[list[int]]) -> Iterator[Batch]:
    """The words, grouped by shape."""
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row, (a, b) in enumerate(zip(letters, phones, strict=True)):
        if 0 < len(b) <= MAX_PHONES * len(a):
            groups[len(a), len(b)].append(row)
    for rows in groups.values():
        yield Batch(np.array([letters[r] for r in rows]), np.array([phones[r] for r in rows]), np.array(rows))


def unit_numbers(batch: Batch, base: int) -> list[np.ndarray]:
    """For k = 0..3, the unit (letter, k phones that end before b) as a number, shaped (words, n, m + 1)."""
    words, m = batch.phones.shape
    letters = batch.letters[:, :, None].astype(np.int64)
    out = []
    for k in range(MAX_PHONES + 1):
        tail = np.zeros((words, m + 1), np.int64)
        for j in range(k):
            tail[:, k:] = tail[:, k:] * base + batch.phones[:, j : m + 1 - k + j]
        out.append(letters * base**MAX_PHONES + tail[:, None, :])
    return out


def _masked(values: np.ndarray, k: int) -> np.ndarray:
    values[:, :, :k] = 0  # no k phones end before b < k
    return values


def expected(batch: Batch, chance: np.ndarray, base: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit numbers and their expected counts in a batch."""
    units = unit_numbers(batch, base)
    emit = [_masked(chance[u], k) for k, u in enumerate(units)]
    words, n, width = emit[0].shape
    forward = np.zeros((n + 1, words, width))
    backward = np.zeros((n + 1, words, width))
    forward[0, :, 0] = backward[n, :, -1] = 1
    for i in range(n):
        for k in range(min(MAX_PHONES + 1, width)):
            forward[i + 1, :, k:] += forward[i, :, : width - k] * emit[k][:, i, k:]
    for i in range(n - 1, -1, -1):
        for k in range(min(MAX_PHONES + 1, width)):
            backward[i, :, : width - k] += backward[i + 1, :, k:] * emit[k][:, i, k:]
    total = np.maximum(forward[n, :, -1], 1e-300)[:, None]
    numbers, weights = [], []
    for i in range(n):
        for k in range(min(MAX_PHONES + 1, width)):
            weight = forward[i, :, : width - k] * emit[k][:, i, k:] * backward[i + 1, :, k:] / total
            numbers.append(units[k][:, i, k:].ravel())
            weights.append(weight.ravel())
    return np.concatenate(numbers), np.concatenate(weights)


def learn(words: Iterable[Batch], letters: int, base: int, rounds: int) -> np.ndarray:
    """P(phones | letter) by unit number."""
    size = letters * base**MAX_PHONES
    within = np.arange(base**MAX_PHONES)
    length = (within > 0).astype(int) + (within >= base) + (within >= base**2)
    chance = np.tile(np.array(START_WEIGHTS)[length], letters)
    held = list(words)
    for _ in range(rounds):
        counts = np.zeros(size)
        for batch in held:
            numbers, weights = expected(batch, chance, base)
            counts += np.bincount(numbers, weights, size)
        sums = counts.reshape(letters, -1).sum(1, keepdims=True)
        chance = (counts.reshape(letters, -1) / np.maximum(sums, 1e-9)).ravel()
        chance[chance < 1e-6] = 0
    return chance


def best(batch: Batch, chance: np.ndarray, base: int) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest units of each word, (words, n), and whether the word has any alignment, (words,)."""
    units = unit_numbers(batch, base)
    emit = [_masked(chance[u], k) for k, u in enumerate(units)]
    words, n, width = emit[0].shape
    score = np.zeros((words, width))
    score[:, 0] = 1
    choice = np.zeros((n, words, width), np.int64)
    for i in range(n):
        options = np.zeros((MAX_PHONES + 1, words, width))
        for k in range(min(MAX_PHONES + 1, width)):
            options[k, :, k:] = score[:, : width - k] * emit[k][:, i, k:]
        choice[i] = options.argmax(0)
        score = options.max(0)
    out = np.zeros((words, n), np.int64)
    at = np.full(words, width - 1)
    row = np.arange(words)
    for i in range(n - 1, -1, -1):
        k = choice[i, row, at]
        out[:, i] = np.stack(units)[k, row, i, at]
        at = at - k
    return out, (score[:, -1] > 0) & (at == 0)
