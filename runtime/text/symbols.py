"""The voice's phoneme symbols and their ids (data/lexicon/symbols.tsv)."""

from __future__ import annotations

from pathlib import Path

from ..errors import TextError

PAD = 0
VOWELS = frozenset("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ")
PAUSES = frozenset(";:,.!?")


class Symbols:
    """Symbol to id and back."""

    def __init__(self, path: Path) -> None:
        try:
            rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if line]
            self.ids = {symbol.replace("<space>", " "): int(number) for symbol, number in rows}
        except (OSError, ValueError) as error:
            raise TextError(f"cannot read the symbols {path}: {error}; reinstall stonechat") from error
        self.names = {number: symbol for symbol, number in self.ids.items()}

    def encode(self, phonemes: str) -> tuple[int, ...]:
        """Ids of the symbols that the voice has."""
        ids = self.ids
        return tuple([ids[symbol] for symbol in phonemes if symbol in ids])

    def decode(self, ids: bytes) -> str:
        """Symbols of ids (one byte each, as the lexicons keep them)."""
        names = self.names
        return "".join([names[i] for i in ids])
