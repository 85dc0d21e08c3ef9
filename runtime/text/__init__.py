"""Text frontend: text to clauses of phoneme symbols, on the standard library alone."""

from .document import Document
from .frontend import Frontend
from .manner import UNSAID, Delivery, Manner, Speakers
from .types import Clause, Explained, Piece, Sentence, Word

__all__ = [
    "UNSAID",
    "Clause",
    "Delivery",
    "Document",
    "Explained",
    "Frontend",
    "Manner",
    "Piece",
    "Sentence",
    "Speakers",
    "Word",
]
