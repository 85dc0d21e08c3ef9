"""What every stage's worker has in common."""

from __future__ import annotations

from typing import Protocol

from ..slot import Slot


class Worker(Protocol):
    """One stage's work for one slot: `step` does a little, without blocking, and says whether it did anything."""

    slot: Slot

    def step(self) -> bool:
        """Take from the ring before, give to the ring behind; False when there is nothing to take or no room."""

    def reset(self) -> None:
        """Forget the utterance in hand."""


def largest_block(sizes: tuple[int, ...], limit: int) -> int:
    """The largest of the bound block sizes (ascending) that is at most `limit`; 0 where none is."""
    return max((size for size in sizes if size <= limit), default=0)
