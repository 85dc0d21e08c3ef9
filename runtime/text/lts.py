"""Letter to sound for words that no lexicon holds: the likeliest row of graphones under an n-gram model.

Graphones are a letter with the phonemes it sounds; `export/lts.py` trains them (Bisani and Ney 2008).
"""

from __future__ import annotations

from functools import lru_cache
from zlib import crc32

from .lexicon import LexiconFile
from .stress import PRIMARY, SECONDARY, promote

ORDER = 6
"""Graphones an n-gram spans."""
START, END = "\x01", "\x02"
FIRST_CODE = 3
STEP = 1 / 16
"""Nats a cost step is worth."""
BEAM = 16
"""Hypotheses that go on after each letter, at most."""
WIDTH = 112
"""Cost steps that they may lie behind the best."""
LONGEST = 40
"""Letters; a longer word is read in pieces."""
Hypothesis = tuple[int, str]


class LetterToSound:
    """Callable: lower-case letters to phonemes."""

    def __init__(self, file: LexiconFile) -> None:
        self._slots = file.array("lts", "I")
        self._found: dict[str, int] = {}  # look-ups of the word at hand
        self._units: dict[str, list[str]] = {}
        self._phonemes = [""] * FIRST_CODE
        for i, unit in enumerate(bytes(file.bytes("lts.units")).decode("utf-8").split("\n")):
            self._units.setdefault(unit[0], []).append(chr(FIRST_CODE + i))
            self._phonemes.append(unit[1:])

    @lru_cache(maxsize=256)  # noqa: B019  (one frontend lives as long as the process)
    def __call__(self, word: str) -> str:
        """Phonemes of a word; "" where it has no letter the model knows."""
        letters = [letter for letter in word if letter in self._units]
        pieces = [letters[i : i + LONGEST] for i in range(0, len(letters), LONGEST)]
        return "".join(_one_stress(self._best(piece)) for piece in pieces)

    def _best(self, letters: list[str]) -> str:
        """Beam search; of hypotheses that the model cannot tell apart from here on, the best goes on."""
        reached: list[Hypothesis] = [(0, START * (ORDER - 1))]
        for codes in [*(self._units[letter] for letter in letters), [END]]:
            grown: list[Hypothesis] = []
            states: set[str] = set()
            reached.sort()
            worst = reached[0][0] + WIDTH
            for hypothesis in reached:
                if hypothesis[0] > worst:
                    break
                contexts = self._contexts(hypothesis[1])
                if contexts[0][0] not in states:
                    states.add(contexts[0][0])
                    grown += self._grow(hypothesis, contexts, codes)
                if len(states) == BEAM:
                    break
            reached = grown
        self._found.clear()
        return "".join(self._phonemes[ord(code)] for code in min(reached)[1][ORDER - 1 : -1])

    def _contexts(self, history: str) -> list[tuple[str, int]]:
        """The contexts that the model knows, longest first, each with what backing off to it costs."""
        contexts = [("", 0)]
        for n in range(
            1, ORDER
        ):  # the model keeps its n-grams' contexts, so none is longer than a missing one
            context = history[len(history) - n :]
            found = self._find(context)
            if not found:
                break
            contexts = [(known, away + (found & 0xFF)) for known, away in contexts]
            contexts.append((context, 0))
        return contexts[::-1]

    def _grow(
        self, hypothesis: Hypothesis, contexts: list[tuple[str, int]], codes: list[str]
    ) -> list[Hypothesis]:
        """The hypothesis with each of the graphones after it."""
        cost, history = hypothesis
        out: list[Hypothesis] = []
        for code in codes:
            for context, away in contexts:
                found = self._find(context + code)
                if found:
                    out.append((cost + away + (found >> 8 & 0xFF), history + code))
                    break
        return out

    def _find(self, gram: str) -> int:
        """The n-gram's slot, 0 when the model lacks it."""
        if gram in self._found:
            return self._found[gram]
        self._found[gram] = value = self._look_up(gram)
        return value

    def _look_up(self, gram: str) -> int:
        hashed = crc32(gram.encode("utf-16-le"))
        mark = hashed >> 16
        slots = self._slots
        size = len(slots)
        slot = hashed % size
        while value := slots[slot]:
            if value >> 16 == mark:
                return value
            slot = (slot + 1) % size
        return 0


def _one_stress(phonemes: str) -> str:
    """Exactly one primary stress: the last of several, or the first vowel."""
    head, mark, tail = phonemes.rpartition(PRIMARY)
    return head.replace(PRIMARY, SECONDARY) + mark + tail if mark else promote(phonemes)
