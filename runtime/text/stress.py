"""Marks and shifts stress in English phoneme strings (ˈ primary, ˌ secondary, each before its vowel)."""

from __future__ import annotations

from .symbols import VOWELS

PRIMARY, SECONDARY = "ˈ", "ˌ"
HEAVY = frozenset("AIOQWYʤʧ")


def plain(phonemes: str) -> str:
    """Without stress marks."""
    return phonemes.replace(PRIMARY, "").replace(SECONDARY, "")


def demote(phonemes: str) -> str:
    """Primary stress becomes secondary, secondary none; a word without primary stress stays."""
    return phonemes.replace(SECONDARY, "").replace(PRIMARY, SECONDARY) if PRIMARY in phonemes else phonemes


def promote(phonemes: str, mark: str = PRIMARY) -> str:
    """An unstressed word gets `mark` on its first vowel; with PRIMARY, secondary stress becomes primary."""
    if PRIMARY in phonemes:
        return phonemes
    if SECONDARY in phonemes:
        return phonemes.replace(SECONDARY, PRIMARY) if mark == PRIMARY else phonemes
    for i, symbol in enumerate(phonemes):
        if symbol in VOWELS:
            return phonemes[:i] + mark + phonemes[i:]
    return phonemes


def weight(phonemes: str) -> int:
    """Length in morae or so, to choose which part of a compound keeps its stress."""
    return sum(2 if symbol in HEAVY else 1 for symbol in phonemes)


def compound(parts: list[str]) -> list[str]:
    """Stress of a word of several parts: the lighter half of the stressed parts gives way."""
    if len(parts) < 2:
        return parts
    order = sorted((PRIMARY in part, weight(part), i) for i, part in enumerate(parts))
    if sum(stressed for stressed, _, _ in order) <= (len(parts) + 1) // 2:
        return parts
    lighter = {i for _, _, i in order[: len(parts) // 2]}
    return [demote(part) if i in lighter else part for i, part in enumerate(parts)]
