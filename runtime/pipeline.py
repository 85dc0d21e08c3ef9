"""The way from text to sound: five stages, a thread each, joined by the rings of every session's slot.

    text -> TextWorker -> sentences -> PhonemeWorker -> clauses -> ProsodyWorker -> frames
         -> AcousticWorker -> features -> VocoderWorker -> PCM

A stage's thread serves all sessions in turn, a block at a time, and sleeps on the stage's doorbell when none has
work. With `inline` the same workers run in the caller's thread. A worker that raises ends its session only.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import MappingProxyType

from .engine import Program
from .facts import VoiceFacts
from .ring import Doorbell
from .slot import Bells, Slot
from .stages.acoustic import AcousticWorker
from .stages.phonemes import PhonemeWorker
from .stages.prosody import ProsodyWorker
from .stages.stage import Worker
from .stages.text import TextWorker
from .stages.vocoder import VocoderWorker
from .text import Frontend

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
        self.closing = False

    def loop(self) -> None:
        """Step every slot that has work until the pipeline closes."""
        while not self.closing:
            if not self.step_all():
                self.bell.wait(lambda: self.closing or self.step_all())

    def step_all(self) -> bool:
        busy = [self.step(worker) for worker in self.workers if not worker.slot.inline]
        return any(busy)

    def step(self, worker: Worker) -> bool:
        """One step for one slot; its error, if any, goes to the slot's listener."""
        slot = worker.slot
        if slot.error is not None and not slot.stopping:
            return False
        with self.lock:
            if slot.stopping:
                return self._drop(worker)
            try:
                return worker.step()
            except Exception as error:  # whatever a stage raises belongs to the session, not to the thread
                slot.error = error
        slot.listener.ring()
        return False

    def _drop(self, worker: Worker) -> bool:
        slot = worker.slot
        if self.name in slot.stopped:
            return False
        worker.reset()
        slot.stopped.add(self.name)
        slot.listener.ring()
        return True


class Pipeline:
    """The five stages, and their threads once the first session that needs them begins."""

    def __init__(self, models: Models) -> None:
        self.models, self.bells = models, Bells()
        self.stages = tuple(Stage(name, bell) for name, bell in vars(self.bells).items())
        self.threads: list[threading.Thread] = []

    def add(self, slot: Slot) -> None:
        """Give every stage a worker for a new slot."""
        facts, frontend, programs = self.models.facts, self.models.frontend, self.models.programs
        workers: tuple[Worker, ...] = (
            TextWorker(slot, frontend),
            PhonemeWorker(slot, frontend),
            ProsodyWorker(slot, facts, programs["encoder"], programs["pitch"]),
            AcousticWorker(slot, facts, programs["acoustic"]),
            VocoderWorker(slot, facts, programs["vocoder"]),
        )
        for stage, worker in zip(self.stages, workers, strict=True):
            stage.workers = [*stage.workers, worker]

    def start(self) -> None:
        """Start the threads, once."""
        if self.threads:
            return
        before = threading.stack_size(STACK_BYTES)
        try:
            for stage in self.stages:
                thread = threading.Thread(target=stage.loop, name=f"stonechat-{stage.name}", daemon=True)
                thread.start()
                self.threads.append(thread)
        finally:
            threading.stack_size(before)

    def step(self, slot: Slot) -> bool:
        """One round over the stages for one slot, sound first, in the caller's thread."""
        busy = False
        for stage in reversed(self.stages):
            for worker in stage.workers:
                if worker.slot is slot:
                    busy |= stage.step(worker)
        return busy

    def wake(self) -> None:
        """Ring every stage."""
        for stage in self.stages:
            stage.bell.ring()

    def close(self) -> None:
        """End the threads."""
        for stage in self.stages:
            stage.closing = True
        self.wake()
        for thread in self.threads:
            thread.join(timeout=5)
        self.threads.clear()
