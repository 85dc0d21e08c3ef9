"""Stage 5: features to samples: the vocoder graph, then source and overlap-add."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from ..engine import Program
from ..facts import VoiceFacts
from ..slot import END, End, Slot, Span
from ..synthesis import ROWS, Synthesiser
from .stage import BLOCKS, next_block


class VocoderWorker:
    """Makes sound of features. A frame finishes the samples half a window before its centre, so the first rows
    (the acoustic lookahead, and two more) finish nothing that belongs to the clause.
    """

    def __init__(self, slot: Slot, facts: VoiceFacts, program: Program) -> None:
        self.slot, self.facts = slot, facts
        self.state = slot.states["vocoder"]
        self.bound = {n: program.bind({"T": n}, self.state) for n in BLOCKS}
        self.width = slot.sizes.feature
        self.rows, self.samples = slot.feature_rows, slot.synthesis["samples"]
        self.synthesiser = Synthesiser(facts, slot.synthesis)
        self.ramp = slot.synthesis["gate"][: facts.hop]  # free once the synthesiser has run
        self.silent_rows = facts.lookahead_frames + facts.window // facts.hop // 2
        self.reset()

    def reset(self) -> None:
        self.span: Span | None = None
        self.done = self.left = self.sent = 0
        self.utterance = False

    def step(self) -> bool:
        slot = self.slot
        if self.span is None:
            return self._begin()
        if self.done == self.span.rows:
            return self._finish(self.span)
        size = next_block(self.span, self.done)
        if slot.features.readable < size or slot.pcm.writable < size * self.facts.hop:
            return False
        self._run(size, self.span)
        return True

    def _begin(self) -> bool:
        slot = self.slot
        if not slot.heard.writable:
            return False
        item = slot.feature_spans.pop()
        if item is None:
            return False
        if isinstance(item, End):
            self.reset()
            return slot.heard.push(END)
        if not self.utterance:
            self.synthesiser.seed(item.request.seed)
            self.utterance = True
        self.span, self.done, self.sent = item, 0, 0
        self.left = 0 if item.rows else item.pause
        self.state.fill(0)
        self.synthesiser.begin_clause()
        return slot.heard.push(item)

    def _run(self, size: int, span: Span) -> None:
        bound, width, rows = self.bound[size], self.width, self.rows[:size]
        self.slot.features.pop(rows)
        bound.inputs["features"][0] = rows[:, :width]
        bound.inputs["f0"][0] = rows[:, width : width + 2]
        bound.run()
        spectrum = bound.outputs["spectrum"][0]
        hop, silent_rows = self.facts.hop, self.silent_rows + span.unheard
        for at in range(0, size, ROWS):
            n = min(ROWS, size - at)
            samples = self.samples[: n * hop]
            self.synthesiser.run(spectrum[at : at + n], rows[at : at + n, width + 2 :], samples)
            skip = min(max(0, silent_rows - self.done), n)
            self._send(samples[skip * hop :], span)
            self.done += n

    def _finish(self, span: Span) -> bool:
        """The samples still under the window, and the pause behind the clause."""
        rest = self.facts.window // 2
        if self.left == 0 and self.done:
            if self.slot.pcm.writable < rest:
                return False
            self.synthesiser.flush(self.samples[:rest])
            self._send(self.samples[:rest], span)
            self.left = span.pause
        if self.left:
            view = self.slot.pcm.write_view(self.left)
            if not len(view):
                return False
            view[...] = 0
            self.slot.pcm.commit(len(view))
            self.left -= len(view)
        if not self.left:
            self.span = None
        self.slot.begin_sound()  # silence counts: nothing before it makes the stages wait
        return True

    def _send(self, samples: NDArray[np.float32], span: Span) -> None:
        """Scale, keep within full scale, and hand to the listener."""
        if span.gains:
            self._scale(samples, span.gains)
        else:
            np.multiply(samples, np.float32(span.request.volume), out=samples)
        np.clip(samples, -1.0, 1.0, out=samples)
        if len(samples):
            self.slot.pcm.push(samples)
            self.slot.begin_sound()

    def _scale(self, samples: NDArray[np.float32], gains: tuple[tuple[int, float], ...]) -> None:
        """Scale whole frames, with a ramp over the frame before each change."""
        hop, ramp = self.facts.hop, self.ramp
        for at in range(0, len(samples), hop):
            frame = samples[at : at + hop]
            now, then = _gain(gains, self.sent), _gain(gains, self.sent + 1)
            np.multiply(self.synthesiser.ramp, np.float32(then - now), out=ramp)
            np.add(ramp, np.float32(now), out=ramp)
            np.multiply(frame, ramp, out=frame)
            self.sent += 1


def _gain(gains: tuple[tuple[int, float], ...], frame: int) -> float:
    """The gain in force at a frame."""
    return gains[max(0, bisect_right(gains, frame, key=_first) - 1)][1]


def _first(step: tuple[int, float]) -> int:
    return step[0]
