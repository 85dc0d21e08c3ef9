"""Priorities, processors and turns of the threads that speak."""

import os
import sys
import threading
import warnings
from pathlib import Path

import pytest
import stonechat
from stonechat import realtime
from stonechat.platforms import Outcome, current
from stonechat.realtime import SWITCH_INTERVAL_S, QuickTurns

TINY = Path(__file__).parent / "data" / "tiny_voice"
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's calls")


def test_turns_are_quick_only_while_somebody_speaks() -> None:
    before, turns = sys.getswitchinterval(), QuickTurns(0.001)
    turns.begin()
    turns.begin()
    assert sys.getswitchinterval() == pytest.approx(0.001)
    turns.end()
    assert sys.getswitchinterval() == pytest.approx(0.001)
    turns.end()
    assert sys.getswitchinterval() == before


def test_an_interval_that_somebody_else_set_stays() -> None:
    before, turns = sys.getswitchinterval(), QuickTurns(0.001)
    try:
        turns.begin()
        sys.setswitchinterval(0.02)
        turns.end()
        assert sys.getswitchinterval() == pytest.approx(0.02)
        sys.setswitchinterval(0.0001)  # quicker already
        turns.begin()
        assert sys.getswitchinterval() == pytest.approx(0.0001)
        turns.end()
        assert sys.getswitchinterval() == pytest.approx(0.0001)
    finally:
        sys.setswitchinterval(before)


def test_turns_while_a_voice_speaks_is_cancelled_and_dropped() -> None:
    before = sys.getswitchinterval()
    with stonechat.load(TINY, sessions=2, lock=False) as voice:
        assert sys.getswitchinterval() == before
        one, two = (voice.inference("你好。" * 20, stream=True) for _ in range(2))
        next(one)
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_S)
        one.close()
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_S)
        two.cancel()
        list(two)
        assert sys.getswitchinterval() == before
        dropped = voice.inference("你好。" * 20, stream=True)
        next(dropped)
        del dropped
        voice.pipeline.settle_dropped()
        assert sys.getswitchinterval() == before
        unfinished = voice.inference("你好。" * 20, stream=True)
        next(unfinished)
    assert sys.getswitchinterval() == before  # closed while it spoke
    del unfinished
    assert sys.getswitchinterval() == before


@linux
def test_stages_and_what_is_started_inside_are_promoted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, int] = {}
    pinned: set[int] = set()
    platform = current()
    monkeypatch.setattr(
        platform, "schedule_fifo", lambda n, thread=0: asked.update({thread: n}) or Outcome(True)
    )
    monkeypatch.setattr(platform, "pin", lambda cpus, thread=0: pinned.add(thread) or Outcome(True))
    with stonechat.load(TINY, sessions=1, lock=False, real_time=True) as voice:
        ids = {t.name.removeprefix("stonechat-"): t.native_id for t in voice.pipeline.threads}
        assert {name: asked[number] for name, number in ids.items()} == realtime.STAGE_PRIORITIES
        assert pinned == set(ids.values())
    asked.clear()
    stop = threading.Event()
    with realtime.promoting_new_threads():
        thread = threading.Thread(target=stop.wait)
        thread.start()
    assert asked == {thread.native_id: realtime.PLAYER_PRIORITY}
    stop.set()
    thread.join()


def test_a_refusal_is_one_warning_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current(), "schedule_fifo", lambda n, thread=0: Outcome(False, "LimitRTPRIO=99"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with stonechat.load(TINY, sessions=1, lock=False, real_time=True) as voice:
            assert len(voice.inference("好。")[0])
    assert ["LimitRTPRIO=99" in str(w.message) for w in caught] == [True]


@linux
def test_another_thread_is_scheduled_by_its_number() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    number = thread.native_id or 0
    try:
        outcome = current().schedule_fifo(5, number)
        is_fifo = os.sched_getscheduler(number) & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO
        assert is_fifo == bool(outcome)
        one = min(os.sched_getaffinity(0))
        assert current().pin([one], number)
        assert os.sched_getaffinity(number) == {one}
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    finally:
        stop.set()
        thread.join()
