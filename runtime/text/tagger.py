"""Part-of-speech tags (Penn Treebank) by an averaged perceptron, for words whose sound depends on their use.

Collins (2002), Discriminative Training Methods for Hidden Markov Models. The weights are hibari-tts's
(Apache-2.0), pruned by export/lexicon_tags.py; the features are named as that model names them.
"""

from __future__ import annotations

import re
from zlib import crc32

from .lexicon import LexiconFile

STEP = 0.25
"""What one unit of a stored weight is worth."""
SUBWORD = re.compile(r"n't$|'(?:s|re|ll|ve|d|m)$|-|[^-]+?(?=n't$|'(?:s|re|ll|ve|d|m)$|-|$)", re.IGNORECASE)
BEFORE = ("-START2-", "-START-")
AFTER = ("-END-", "-END2-")


def shape(word: str) -> str:
    """How a word is written: "x" small, "Xx" capitalised, "XX" capitals, "d" digits."""
    if word.isdigit():
        return "d"
    if not word.isalpha():
        return "".join("d" if c.isdigit() else "x" if c.isalpha() else c for c in word[:4])
    if word.islower():
        return "x"
    if word.isupper():
        return "XX" if len(word) > 1 else "X1"
    return "Xx" if word[1:].islower() else "xX"


def feature_key(name: str) -> bytes:
    """Key of a feature in the table "tags.weights"."""
    return crc32(name.encode("utf-8")).to_bytes(4, "little")


class Tagger:
    """Callable: words of a run to one tag each."""

    def __init__(self, file: LexiconFile) -> None:
        self._tags = bytes(file.bytes("tags")).decode("ascii").split("\n")
        self._fixed = file.table("tags.fixed")
        self._weights = file.table("tags.weights")

    def __call__(self, words: list[str]) -> list[str]:
        """A compound or contraction takes the tag of its longest part."""
        parts: list[str] = []
        owners: list[int] = []
        for i, word in enumerate(words):
            split = SUBWORD.findall(word) if "-" in word or "'" in word else [word]
            parts += split
            owners += [i] * len(split)
        tags = self._tag(parts)
        out = [""] * len(words)
        sizes = [0] * len(words)
        for part, owner, tag in zip(parts, owners, tags, strict=True):
            size = len(part) + sum(c.isupper() for c in part)
            if size > sizes[owner]:
                out[owner], sizes[owner] = tag, size
        return out

    def _tag(self, words: list[str]) -> list[str]:
        context = [*BEFORE, *map(self._known_form, words), *AFTER]
        second, first = BEFORE
        tags = []
        known: dict[tuple[str, ...], str] = {}  # what repeats itself is weighed once
        for i, word in enumerate(words):
            fixed = self._fixed.get(word.encode("utf-8"))
            if fixed:
                tag = self._tags[fixed[0]]
            else:
                features = self._features(i, word, context, first, second)
                tag = known.get(features) or known.setdefault(features, self._best(features))
            tags.append(tag)
            second, first = first, tag
        return tags

    def _known_form(self, word: str) -> str:
        """The word as the features name it: rare ones by their shape."""
        if "-" in word and word[0] != "-":
            form = "!HYPHEN"
        elif word[:1].isdigit():
            form = "!YEAR" if word.isdigit() and len(word) == 4 else "!DIGITS"
        else:
            form = word.lower()
        return form if feature_key("vocab=" + form) in self._weights else f"<{shape(word)}>"

    @staticmethod
    def _features(i: int, word: str, context: list[str], first: str, second: str) -> tuple[str, ...]:
        two_back, back, here, ahead, two_ahead = context[i : i + 5]
        return (
            "b", f"s3={word[-3:]}", f"p1={word[:1]}", f"w={here}", f"sh={shape(word)}", "i+" if i else "i0",
            f"t-1={first}", f"t-2={second}", f"t-12={first},{second}",
            f"w-1={back}", f"s3-1={back[-3:]}", f"w-2={two_back}",
            f"w+1={ahead}", f"s3+1={ahead[-3:]}", f"w+2={two_ahead}",
        )  # fmt: skip

    def _best(self, features: tuple[str, ...]) -> str:
        pairs = b"".join([self._weights.get(feature_key(name)) or b"" for name in features])
        scores = dict.fromkeys(pairs[::2], 0)
        for tag, weight in zip(pairs[::2], memoryview(pairs).cast("b")[1::2], strict=True):
            scores[tag] += weight
        return self._tags[max(zip(scores.values(), scores, strict=True))[1]] if scores else "NN"
