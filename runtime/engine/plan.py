"""Memory planning over integers only: sizes and lifetimes in, offsets out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""Bytes; a cache line, and the widest vector register."""


@dataclass(frozen=True)
class Block:
    """A piece of memory and the steps during which it must keep its content."""

    name: str
    size: int
    """Bytes."""
    first: int
    last: int
    """Both inclusive, so two blocks of one step never share memory."""

    def meets(self, other: Block) -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Slot:
    """Where a block lies."""

    offset: int
    size: int


def aligned(size: int) -> int:
    """The next multiple of 64 bytes."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def greedy(blocks: Iterable[Block]) -> dict[str, Slot]:
    """Largest first, each into the lowest gap between the blocks alive at the same time."""
    slots: dict[str, Slot] = {}
    placed: list[tuple[Block, Slot]] = []
    for block in sorted(blocks, key=lambda block: (-block.size, block.first, block.name)):
        busy = sorted((slot for other, slot in placed if other.meets(block)), key=lambda slot: slot.offset)
        slot = Slot(lowest_gap(busy, block.size), block.size)
        placed.append((block, slot))
        slots[block.name] = slot
    return slots


def lowest_gap(busy: Sequence[Slot], size: int) -> int:
    """The first aligned offset where `size` bytes fit between slots sorted by offset."""
    offset = 0
    for slot in busy:
        if slot.offset - offset >= size:
            break
        offset = max(offset, aligned(slot.offset + slot.size))
    return offset


def linear(blocks: Iterable[Block]) -> dict[str, Slot]:
    """Every block in its own place: what greedy() is measured against."""
    slots, offset = {}, 0
    for block in blocks:
        slots[block.name] = Slot(offset, block.size)
        offset += aligned(block.size)
    return slots


def total(slots: dict[str, Slot]) -> int:
    """Bytes of the arena, a multiple of 64."""
    return aligned(max((slot.offset + slot.size for slot in slots.values()), default=0))


def overlaps(blocks: Iterable[Block], slots: dict[str, Slot]) -> list[tuple[str, str]]:
    """Pairs that live at the same time and share bytes; a right plan has none."""
    found, seen = [], list[Block]()
    for block in blocks:
        slot = slots[block.name]
        for other in seen:
            place = slots[other.name]
            apart = slot.offset + slot.size <= place.offset or place.offset + place.size <= slot.offset
            if block.meets(other) and not apart:
                found.append((other.name, block.name))
        seen.append(block)
    return found
