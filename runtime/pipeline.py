"""The way from text to sound: five stages, a thread each, joined by the rings of every session's slot.

    text -> TextWorker -> sentences -> PhonemeWorker -> clauses -> ProsodyWorker -> frames
         -> AcousticWorker -> features -> VocoderWorker -> PCM

A stage's thread serves all sessions in turn, a block at a time, and sleeps on the stage's doorbell when none has
work. With `inline` the same workers run in the caller's thread. A worker that raises ends its session only.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from stonechat.platforms import current

from .engine import Program
from .errors import OptionError
from .facts import VoiceFacts
from .realtime import STAGE_PRIORITIES, promote
from .ring import Doorbell
from .slot import Bells, Slot
from .stages.acoustic import AcousticWorker
from .stages.phonemes import PhonemeWorker
from .stages.prosody import ProsodyWorker
from .stages.stage import Worker
from .stages.text import TextWorker
from .stages.vocoder import VocoderWorker
from .text import Frontend

SETTLE_S = 0.01
STACK_BYTES = 256 * 1024
"""A stage's stack: the default of 8 MB would be locked in memory five times."""


@dataclass(frozen=True)
class Models:
    """What all sessions share: facts, text frontend and the four placed programs."""

    facts: VoiceFacts
    frontend: Frontend
    programs: MappingProxyType[str, Program]


class Stage:
    """One stage: its workers (one a slot) and the thread that steps them."""

    def __init__(self, name: str, bell: Doorbell) -> None:
        self.name, self.bell = name, bell
        self.workers: list[Worker] = []
        self.lock = threading.Lock()  # the stage's program has one arena: one step at a time
        self.owner = 0  # the thread inside a step
        self.closing = False

    def loop(self) -> None:
        """Step every slot that has work until the pipeline closes."""
        while not self.closing:
            if not self.step_all():
                self.bell.wait(lambda: self.closing or self.step_all())

    def step_all(self) -> bool:
        """One step for every slot that is not worked for by its caller."""
        busy = [self.step(w) for w in self.workers if w.slot.stopping or not w.slot.inline]
        return any(busy)

    def step(self, worker: Worker) -> bool:
        """One step for one slot; its error, if any, goes to the slot's listener."""
        slot = worker.slot
        with self.lock:
            self.owner = threading.get_ident()
            try:
                if slot.stopping:
                    return self._drop(worker)
                return slot.error is None and worker.step()
            except Exception as error:  # whatever a stage raises belongs to the session, not to the thread
                slot.error = error
            finally:
                self.owner = 0
        slot.listener.ring()
        return False

    def _drop(self, worker: Worker) -> bool:
        slot = worker.slot
        if not slot.holds(self.name):
            return False
        worker.reset()
        slot.let_go(self.name, slot.serial)
        return True


class Pipeline:
    """The five stages, and their threads once the first session that needs them begins."""

    def __init__(self, models: Models, slots: Sequence[Slot], bells: Bells) -> None:
        self.models, self.slots = models, tuple(slots)
        self.stages = tuple(Stage(name, bell) for name, bell in vars(bells).items())
        self.threads: list[threading.Thread] = []
        self.closed = self.real_time = False
        self._starting = threading.Lock()
        self._process = os.getpid()
        for slot in self.slots:
            for stage, worker in zip(self.stages, self._workers(slot), strict=True):
                stage.workers.append(worker)

    def _workers(self, slot: Slot) -> tuple[Worker, ...]:
        facts, frontend, programs = self.models.facts, self.models.frontend, self.models.programs
        return (
            TextWorker(slot, frontend),
            PhonemeWorker(slot, frontend),
            ProsodyWorker(slot, facts, programs["encoder"], programs["pitch"]),
            AcousticWorker(slot, facts, programs["acoustic"]),
            VocoderWorker(slot, facts, programs["vocoder"]),
        )

    def ready(self, inline: bool) -> None:
        """Start the threads unless the caller's own will do. OptionError once closed, or in a forked process."""
        if self.closed:
            raise OptionError("the voice is closed: load it again")
        if os.getpid() != self._process:
            raise OptionError(
                "this process was forked from the one that loaded the voice: load it after forking"
            )
        with self._starting:
            if not inline and not self.threads:
                self._start()

    def _start(self) -> None:
        before = threading.stack_size()
        current().thread_stack(STACK_BYTES)
        try:
            for stage in self.stages:
                thread = threading.Thread(target=stage.loop, name=f"stonechat-{stage.name}", daemon=True)
                thread.start()
                self.threads.append(thread)
        finally:
            threading.stack_size(before)
        if self.real_time:
            promote(
                [
                    (t.native_id or 0, STAGE_PRIORITIES[s.name])
                    for s, t in zip(self.stages, self.threads, strict=True)
                ]
            )

    def step(self, slot: Slot) -> bool:
        """One round over the stages for one slot, sound first, in the caller's thread."""
        busy = False
        for stage in reversed(self.stages):
            busy |= stage.step(stage.workers[slot.index])
        return busy

    def settle(self, slot: Slot, serial: int) -> None:
        """Return once a stopped utterance has left its slot; at once where waiting would be for oneself."""
        while slot.serial == serial and not slot.idle.is_set():
            if any(stage.owner == threading.get_ident() for stage in self.stages):
                return
            if self.threads and not self.closed:
                self.wake()
                slot.idle.wait(SETTLE_S)
            elif not self.step(slot):
                slot.idle.wait(SETTLE_S)

    def settle_dropped(self) -> None:
        """Settle every utterance that was ended without waiting."""
        for slot in self.slots:
            if slot.stopping:
                self.settle(slot, slot.serial)

    def wake(self) -> None:
        """Ring every stage."""
        for stage in self.stages:
            stage.bell.ring()

    def close(self, wait: bool = True) -> None:
        """End the threads; who is still listening is told."""
        self.closed = True
        for stage in self.stages:
            stage.closing = True
        self.wake()
        for slot in self.slots:
            slot.listener.ring()
        for thread in self.threads if wait else ():
            thread.join(timeout=5)
        for slot in self.slots:
            slot.hush()
