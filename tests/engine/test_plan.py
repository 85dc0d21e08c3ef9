"""Properties of the memory planner."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stonechat.engine.plan import ALIGNMENT, Block, aligned, greedy, linear, overlaps, total

ROW = st.tuples(st.integers(1, 5000), st.integers(0, 20), st.integers(0, 8))
BLOCKS = st.lists(ROW, max_size=25).map(
    lambda rows: [Block(f"b{i}", size, first, first + length) for i, (size, first, length) in enumerate(rows)]
)


@given(BLOCKS)
def test_nothing_alive_overlaps(blocks):
    assert overlaps(blocks, greedy(blocks)) == []
    assert overlaps(blocks, linear(blocks)) == []


@given(BLOCKS)
def test_aligned_and_no_larger_than_linear(blocks):
    slots = greedy(blocks)
    assert all(slot.offset % ALIGNMENT == 0 for slot in slots.values())
    assert total(slots) % ALIGNMENT == 0
    assert total(slots) <= total(linear(blocks))


@given(BLOCKS)
def test_no_smaller_than_the_busiest_step(blocks):
    steps = range(30)
    busiest = max(sum(b.size for b in blocks if b.first <= step <= b.last) for step in steps)
    assert total(greedy(blocks)) >= busiest


@given(BLOCKS)
def test_deterministic(blocks):
    assert greedy(blocks) == greedy(list(reversed(blocks)))


def test_disjoint_lifetimes_share():
    blocks = [Block("a", 100, 0, 1), Block("b", 100, 2, 3), Block("c", 50, 1, 2)]
    slots = greedy(blocks)
    assert slots["a"].offset == slots["b"].offset == 0
    assert slots["c"].offset == aligned(100)
    assert total(slots) == 192


def test_checker_sees_an_overlap():
    blocks = [Block("a", 100, 0, 1), Block("b", 100, 1, 3)]
    assert overlaps(blocks, {name: greedy(blocks[:1])["a"] for name in "ab"}) == [("a", "b")]
