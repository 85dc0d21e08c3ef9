"""What is played next: order, lead-in, soft ends, counts, and what is played again on another device."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stonechat.feed import Feed, PlayerStats
from stonechat.ring import Ring, ring_nbytes

RATE, BLOCK, FADE = 24000, 240, 120
Speech = Callable[[float], np.ndarray]


def made(lead_in_s: float = 0, capacity: int = 8192) -> Feed:
    ring = Ring(np.zeros(ring_nbytes(np.float32, (), capacity), np.uint8), np.float32, (), capacity)
    return Feed(ring, RATE, BLOCK, lead_in_s)


def turns(feed: Feed, times: int = 1, delay_s: float = 0.0) -> np.ndarray:
    heard = [feed.next(delay_s).copy() for _ in range(times)]
    return np.concatenate([np.zeros(0, np.float32), *heard])


def test_lead_in_is_silence_and_loses_nothing(speech: Speech) -> None:
    feed, sound = made(lead_in_s=0.025), speech(0.02)
    feed.ring.push(sound)
    out = turns(feed, 5)
    assert not out[:720].any()
    assert np.array_equal(out[720:], sound)


def test_underruns_count_only_inside_speech(speech: Speech) -> None:
    feed, sound = made(), speech(0.02)
    turns(feed, 3)  # nothing said yet
    feed.ring.push(sound)
    turns(feed, 2)
    assert feed.stats.underruns == 0
    turns(feed, 4)  # one gap, however long
    assert feed.stats.underruns == 1
    feed.ring.push(sound)
    turns(feed, 2)
    feed.ending = True
    turns(feed, 4)
    assert feed.stats.underruns == 1
    assert not feed.ending
    feed.ring.push(sound[:100])  # a block that is not full is a gap too, if speech goes on
    assert np.array_equal(turns(feed)[:100], sound[:100])
    assert feed.stats.underruns == 2
    feed.ring.push(sound)
    turns(feed, 2)
    feed.ring.close()  # its end
    turns(feed, 2)
    assert feed.stats.underruns == 2


@pytest.mark.parametrize("queued", [1, 100, 240, 250, 480])
def test_a_sudden_end_decays_and_what_follows_rises(queued: int) -> None:
    """No step between two samples, and nothing of the speech before the gap is touched."""
    feed = made()
    feed.ring.push(np.ones(queued, np.float32))
    out = turns(feed, 4)
    room = BLOCK - queued % BLOCK
    n = min(FADE, room)
    assert (out[:queued] == 1).all()
    assert out[queued : queued + n] == pytest.approx(1 - np.arange(1, n + 1) / n, abs=1e-6)
    assert not out[queued + n :].any()
    feed.ring.push(np.ones(2 * BLOCK, np.float32))
    out = turns(feed, 2)
    assert out[:FADE] == pytest.approx(np.arange(FADE) / FADE, abs=1e-6)
    assert (out[FADE:] == 1).all()


def test_the_next_prompt_begins_as_it_was_made(speech: Speech) -> None:
    feed, sound = made(), speech(0.05)
    for _ in range(2):
        feed.ring.push(sound)
        feed.ending = True
        out = turns(feed, 30)
        assert np.array_equal(out[: len(sound)], sound)
        assert not out[len(sound) + FADE :].any()


@pytest.mark.parametrize("queued", [0, 50, 120, 4000])
def test_stop_fades_and_drops_the_rest(queued: int) -> None:
    feed = made()
    feed.ring.push(np.ones(queued, np.float32))
    feed.stopping = True
    out = turns(feed, 3)
    n = min(queued, FADE)
    assert out[:n] == pytest.approx(1 - np.arange(1, n + 1) / max(n, 1), abs=1e-6)
    assert not out[n:].any()
    assert feed.ring.readable == 0
    assert not feed.stopping
    assert feed.stats.underruns == 0


def test_stop_where_nothing_is_queued_decays() -> None:
    feed = made()
    feed.ring.push(np.ones(BLOCK, np.float32))
    turns(feed)
    feed.stopping = True
    out = turns(feed, 2)
    assert out[:FADE] == pytest.approx(1 - np.arange(1, FADE + 1) / FADE, abs=1e-6)
    assert not out[FADE:].any()
    assert feed.stats.underruns == 0


def test_drained_is_when_the_last_sample_was_heard() -> None:
    feed = made()
    feed.ring.push(np.ones(2 * BLOCK, np.float32))
    feed.ending = True
    turns(feed, 3, delay_s=0.1)
    heard_in = feed.unheard
    assert heard_in >= 10
    turns(feed, heard_in - 1, delay_s=0.1)
    assert feed.unheard == 1
    turns(feed, 1, delay_s=0.1)
    assert not feed.unheard


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 30), st.sampled_from([0.0, 0.003, 0.05, 0.12]), st.integers(0, 3))
def test_a_device_that_went_is_followed_by_what_it_had_not_played(
    before: int, gone_again: int, delay_s: float, lead_in: int
) -> None:
    """Two devices lost in turn, each with `delay_s` unplayed: what was heard of each makes up the whole."""
    sound = np.arange(1, 80 * BLOCK + 1, dtype=np.float32)
    feed = made(lead_in * 0.01, capacity=1 << 15)
    feed.ring.push(sound)
    at = 0
    for count, rising in ((before, 0), (gone_again, FADE)):
        out = turns(feed, lead_in + count, delay_s)[lead_in * BLOCK :]
        unheard = min(int(np.ceil(delay_s * 100 - 1e-6)) + 1, count)
        heard = out[: (count - unheard) * BLOCK]
        assert np.array_equal(heard[rising:], sound[at : at + len(heard)][rising:])
        at += len(heard)
        feed.rewind()
    out = turns(feed, lead_in + 5, delay_s)[lead_in * BLOCK :]
    assert np.array_equal(out[FADE:], sound[at + FADE : at + 5 * BLOCK])


def test_draining_waits_for_what_is_played_again() -> None:
    feed = made()
    feed.ring.push(np.ones(20 * BLOCK, np.float32))
    feed.ending = True
    turns(feed, 21, delay_s=0.1)
    before = feed.unheard
    feed.rewind()
    assert feed.unheard == before + 11
    out = turns(feed, feed.unheard, delay_s=0.1)
    assert (out[FADE : 10 * BLOCK] == 1).all()
    assert not out[11 * BLOCK :].any()


def test_stop_while_playing_again_drops_all(speech: Speech) -> None:
    feed = made(capacity=1 << 14)
    feed.ring.push(speech(0.5))
    turns(feed, 20, delay_s=0.1)
    feed.rewind()
    feed.stopping = True
    out = turns(feed, 20)
    assert out[:FADE].any()
    assert not out[FADE:].any()
    assert feed.ring.readable == 0


@pytest.mark.parametrize("delay_s", [-1.0, float("inf"), float("nan"), 1e9])
def test_drivers_may_answer_anything(delay_s: float) -> None:
    feed = made()
    feed.ring.push(np.ones(5 * BLOCK, np.float32))
    feed.ending = True
    turns(feed, 6, delay_s)
    feed.rewind()
    turns(feed, 200, delay_s)
    assert not feed.unheard


def test_half_a_second_of_silence_wipes_what_was_kept(speech: Speech) -> None:
    feed = made()
    feed.ring.push(speech(0.1))
    turns(feed, 10)
    assert feed._kept.any()
    turns(feed, 61)
    assert not feed._kept.any()
    feed.ring.push(speech(0.1))
    turns(feed, 10)
    feed.wipe()
    assert not feed._kept.any()


@pytest.mark.parametrize("mark", [None, "ending", "stopping"])
def test_makes_no_array(speech: Speech, mark: Any) -> None:
    feed = made()
    feed.ring.push(speech(0.05))
    turns(feed)
    tracemalloc.start()
    for turn in range(12):
        if turn == 2 and mark:
            setattr(feed, mark, True)
        feed.next(0.01)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1024


def test_trouble_is_told_with_its_remedy() -> None:
    assert PlayerStats(frames=5).trouble() == ""
    assert "3 times (2 for want of speech, 1 for want of processor time)" in PlayerStats(0, 2, 1).trouble()
    assert "priority" in PlayerStats(0, 2, 1).trouble()
    assert PlayerStats(lost=2).trouble().startswith("the sound device went away 2 times")
