"""Mandarin tone sandhi: 一, 不 and the third tone, by word and prosodic word.

Chao, Y. R. (1968), A Grammar of Spoken Chinese, 1.3; Shih, C. (1986), The Prosodic Domain of Tone Sandhi in
Chinese.
"""

from __future__ import annotations

from collections.abc import Callable

from .segment import ZhWord

NUMERALS = frozenset("零〇一二三四五六七八九十百千万亿两点")
DIGITS = frozenset("零〇一二三四五六七八九")
DETERMINERS = frozenset("同另每某任这那哪无不有看想")
"""After these 一 begins what follows, though both are one word ("the same", "another")."""
COUNTED = frozenset("月日号楼班")
"""Before these a bare 一 is a number or a rank ("一月", "一号") and keeps its first tone."""


LATENT_THIRD = frozenset("里姐")
"""Neutral after a third tone, they change it all the same ("where", "miss")."""


def retone(syllable: str, tone: str) -> str:
    """The syllable in another tone."""
    return syllable[:-1] + tone


def yi_bu(words: list[ZhWord]) -> list[list[str]]:
    """Syllables of the words of one phrase after the sandhi of 一 and 不."""
    text = "".join(word.text for word in words)
    flat = [syllable for word in words for syllable in word.syllables]
    out = flat.copy()
    closes = _closing(words)
    for i, char in enumerate(text):
        if char == "一" and flat[i] == "yi1":
            out[i] = "yi1" if i in closes else retone(flat[i], _yi_tone(text, flat, i))
        elif char == "不" and flat[i] == "bu4" and 0 < i < len(text) - 1 and text[i - 1] == text[i + 1]:
            out[i] = "bu5"
        elif char == "不" and flat[i] == "bu4" and i + 1 < len(flat) and flat[i + 1][-1] == "4":
            out[i] = "bu2"
        elif char == "个" and i and text[i - 1] == "一" and flat[i] == "ge5":
            out[i] = "ge4"  # 一个 keeps its full tone in careful speech
    return _by_word(words, out)


def _closing(words: list[ZhWord]) -> set[int]:
    """Places where 一 closes a word or the half of a four-character one, and so keeps its first tone."""
    places: set[int] = set()
    at = 0
    for word in words:
        size = len(word.syllables)
        if size > 1 and word.text[-1] == "一" and word.text[-2] not in DETERMINERS:
            places.add(at + size - 1)
        if size == 4 and word.text[1] == "一" and word.text[0] not in DETERMINERS:
            places.add(at + 1)
        at += size
    return places


def _yi_tone(text: str, flat: list[str], i: int) -> str:
    before = text[i - 1] if i else ""
    after = text[i + 1] if i + 1 < len(text) else ""
    if not after or (before in NUMERALS | frozenset("第初周期") and before != ""):
        return "1"
    if after in DIGITS or (after == "点" and before in NUMERALS) or after in COUNTED:
        return "1"
    if before and before == after:
        return "5"
    next_tone = flat[i + 1][-1]
    return "2" if next_tone == "4" or (next_tone == "5" and after == "个") else "4"


def third_tones(
    words: list[ZhWord], syllables: list[list[str]], is_word: Callable[[str], bool]
) -> list[list[str]]:
    """The syllables of one phrase after third-tone sandhi: inside words first, then from word to word."""
    out = [_inside(word.text, list(s), is_word) for word, s in zip(words, syllables, strict=True)]
    for word, said in zip(words, out, strict=True):
        for i in range(1, len(said)):
            if said[i][-1] == "5" and said[i - 1][-1] == "3" and _is_latent(word.text, i):
                said[i - 1] = retone(said[i - 1], "2")
    for i in range(len(out) - 2, -1, -1):
        left, right = out[i], out[i + 1]
        one_foot = len(left) == 1 or len(right) == 1
        if one_foot and left[-1][-1] == "3" and right[0][-1] == "3":
            left[-1] = retone(left[-1], "2")
    return out


def _is_latent(text: str, i: int) -> bool:
    """Whether the neutral tone of text[i] was a third one that still raises the tone before it."""
    return text[i] in LATENT_THIRD and text[i - 1] != text[i]


def _inside(text: str, word: list[str], is_word: Callable[[str], bool]) -> list[str]:
    """Sandhi inside a word: by pairs from the left in four, else every third tone before a third tone.

    One and two ("paper tiger") are apart from two and one ("exhibition hall").
    """
    size = len(word)
    one_and_two = size == 3 and is_word(text[1:]) and not is_word(text[:2])
    for i in range(1 if one_and_two and word[1][-1] == word[2][-1] == "3" else 0, size - 1):
        same_foot = size != 4 or i % 2 == 0
        if same_foot and word[i][-1] == "3" and word[i + 1][-1] == "3":
            word[i] = retone(word[i], "2")
    return word


def _by_word(words: list[ZhWord], flat: list[str]) -> list[list[str]]:
    out = []
    at = 0
    for word in words:
        out.append(flat[at : at + len(word.syllables)])
        at += len(word.syllables)
    return out
