"""Text frontend: text to clauses of phoneme symbols, on the standard library alone."""

from .frontend import Frontend
from .types import Clause, Piece, Sentence, Word

__all__ = ["Clause", "Frontend", "Piece", "Sentence", "Word"]
