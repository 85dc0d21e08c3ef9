"""What every stage's worker has in common."""

from __future__ import annotations

from typing import Protocol

from ..slot import LONGEST_BLOCK, Slot, Span


class Worker(Protocol):
    """One stage's work for one slot: `step` does a little, without blocking, and says whether it did anything."""

    slot: Slot

    def step(self) -> bool:
        """Take from the ring before, give to the ring behind; False when there is nothing to take or no room."""

    def reset(self) -> None:
        """Forget the utterance in hand."""


FIRST_ROWS = 12
"""Frames that the first 40 ms of a clause's sound need, behind those that are not heard."""
BLOCKS = (3, 12, 36, LONGEST_BLOCK)
"""Block sizes bound by stages 4 and 5."""


def largest_block(sizes: tuple[int, ...], limit: int) -> int:
    """The largest of the bound block sizes (ascending) that is at most `limit`; 0 where none is."""
    return max((size for size in sizes if size <= limit), default=0)


def first_rows(span: Span) -> int:
    """Rows of a clause that its first 40 ms of sound need."""
    return FIRST_ROWS + span.unheard


def next_block(span: Span, done: int) -> int:
    """Rows of the next block of a clause. It depends on the request alone, never on what happens to be ready: a
    matrix product's last bits depend on its rows, and the same call shall make the same sound.
    """
    wish = max(span.request.block, first_rows(span) - done)
    return largest_block(BLOCKS, min(wish, span.rows - done))
