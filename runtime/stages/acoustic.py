"""Stage 4: frames to the vocoder's features, a chunk at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engine import Program
from ..facts import VoiceFacts
from ..ring import Ring
from ..slot import End, Slot, Span
from .stage import BLOCKS, next_block


class AcousticWorker:
    """Runs the acoustic graph along a clause and sends its features on, with the F0 that the source will need."""

    def __init__(self, slot: Slot, facts: VoiceFacts, program: Program) -> None:
        self.slot, self.facts = slot, facts
        self.state = slot.states["acoustic"]
        self.bound = {n: program.bind({"T": n}, self.state) for n in BLOCKS}
        self.f0_column = slot.sizes.hidden + 2
        self.history = slot.f0_history
        self.reset()

    def reset(self) -> None:
        self.span: Span | None = None
        self.done = 0

    def step(self) -> bool:
        slot = self.slot
        if self.span is None:
            return self._begin()
        size = next_block(self.span, self.done)
        if min(slot.frames.readable, slot.features.writable) < size:
            return False
        self._run(size)
        self.done += size
        if self.done == self.span.rows:
            self.span = None
        return True

    def _begin(self) -> bool:
        slot = self.slot
        if not slot.feature_spans.writable:
            return False
        item = slot.frame_spans.pop()
        if item is None:
            return False
        if not isinstance(item, End) and item.rows:
            self.span, self.done = item, 0
            self.state.fill(0)
            self.history.fill(0)
            self.style = item.style
        return slot.feature_spans.push(item)

    def _run(self, size: int) -> None:
        bound, lag = self.bound[size], self.facts.lookahead_frames
        rows = bound.inputs["frames"][0]
        self.slot.frames.pop(rows)
        bound.inputs["style"][...] = self.style
        self.history[lag : lag + size] = rows[:, self.f0_column : self.f0_column + 2]
        bound.run()
        send(self.slot.features, bound.outputs["features"][0], self.history)
        self.history[:lag] = self.history[size : size + lag]


def send(ring: Ring, features: NDArray[np.float32], history: NDArray[np.float32]) -> None:
    """Write rows of [features, F0 and voicing of that frame, the same two frames later]."""
    width, done = features.shape[1], 0
    while done < len(features):
        view = ring.write_view(len(features) - done)
        n = len(view)
        view[:, :width] = features[done : done + n]
        view[:, width : width + 2] = history[done : done + n]
        view[:, width + 2 :] = history[done + 2 : done + 2 + n]
        ring.commit(n)
        done += n
