"""Speaking before everything else: real-time priorities, processors, and how often threads take turns.

One thread runs Python at a time, so every thread that speaks must be real-time: one at ordinary priority that holds the
interpreter and is put aside by other work would make them all wait. The nearer to the ear, the higher the priority.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stonechat.platforms import Outcome, current

PLAYER_PRIORITY = 20
STAGE_PRIORITIES = {"vocoder": 14, "acoustic": 13, "prosody": 12, "phonemes": 11, "text": 11}
CALLER_PRIORITY = 11
SWITCH_INTERVAL_S = 0.0005
"""A thread that wants the interpreter waits so long at most, instead of Python's 5 ms."""


class QuickTurns:
    """Threads take turns at a short interval while anybody speaks, and as before otherwise."""

    def __init__(self, interval_s: float = SWITCH_INTERVAL_S) -> None:
        self.interval_s = interval_s
        self._speaking = 0
        self._before_s = 0.0
        self._lock = threading.RLock()  # a dropped utterance may end inside any allocation

    def begin(self) -> None:
        """One more speaks."""
        with self._lock:
            self._speaking += 1
            if self._speaking == 1:
                self._before_s = sys.getswitchinterval()
                if self._before_s > self.interval_s:
                    sys.setswitchinterval(self.interval_s)

    def end(self) -> None:
        """One has ended; after the last the interval is as it was, unless somebody set another meanwhile."""
        with self._lock:
            self._speaking -= 1
            if self._speaking == 0 and sys.getswitchinterval() <= self.interval_s < self._before_s:
                sys.setswitchinterval(self._before_s)


quick_turns = QuickTurns()


def promote(threads: Iterable[tuple[int, int]]) -> Outcome:
    """Give each (kernel's thread number, priority) SCHED_FIFO, and the processors that this board speaks on.

    Where the system refuses there is one warning that names the remedy; returns the first refusal.
    """
    platform = current()
    cpus = platform.speaking_cpus()
    for thread, priority in threads:
        outcome = platform.schedule_fifo(priority, thread)
        if not outcome:
            warnings.warn(f"speech may stutter when the machine is busy: {outcome.remedy}", stacklevel=2)
            return outcome
        platform.pin(cpus, thread)
    return Outcome(True)


@contextmanager
def promoting_new_threads(priority: int = PLAYER_PRIORITY) -> Iterator[None]:
    """Promote whatever threads are started inside: PortAudio's, which nobody can ask."""
    before = set(thread_numbers())
    yield
    promote([(thread, priority) for thread in thread_numbers() if thread not in before])


def promote_caller(priority: int = CALLER_PRIORITY) -> Outcome:
    """The calling thread."""
    return promote([(threading.get_native_id(), priority)])


def thread_numbers() -> list[int]:
    """The kernel's numbers of this process's threads; none where it does not tell."""
    try:
        return [int(name) for name in os.listdir(Path("/proc/self/task"))]
    except OSError:
        return []
