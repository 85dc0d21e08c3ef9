"""Stage 3: a clause's phonemes to frames of hidden rows, position and prosody (F0, voicing, energy)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import Program
from ..facts import VoiceFacts
from ..slot import END, MAX_PHONEMES, End, Request, Slot, Span, SpokenWord
from ..text import Clause
from .stage import FIRST_ROWS, first_rows, largest_block, next_block

LEAD_FRAMES = 8
"""Frames of silence (0.1 s) heard before the first phoneme; the voice itself would wait 0.4 s."""
UNHEARD_FRAMES = 24
"""Frames of the voice's own silence before that, which are computed and dropped. Without them the graphs' state is
cold when the first phoneme comes: Chinese syllable errors rose from 3.8 to 6.0 %, DNSMOS of English fell by 0.03."""
TAIL_S = 0.32
"""Seconds kept after the last phoneme of a clause, so that no sound is cut and no pause drags."""
FIRST_BLOCK = FIRST_ROWS + UNHEARD_FRAMES + 6
"""Frames of a clause's first block: what its first 40 ms of sound need, and the lookahead."""
PITCH_BLOCKS = (3, 12)
"""Blocks behind it. Never the caller's: F0 feeds a running phase, which would magnify the last bits in which a matrix
product differs from one block size to another."""
F0_STEPS = 256
"""Steps of log F0 (7 cents each), so that the phase is the same on machines that differ in the last bits."""
MAX_LOG_DURATION = np.float32(5.0)
"""No phoneme lasts longer than exp(5) units (3.7 s), whatever a graph says."""
POSITION = 2
PROSODY = 3


class ProsodyWorker:
    """Encodes clause after clause, lays each on the frame grid, and runs the pitch graph along it."""

    def __init__(self, slot: Slot, facts: VoiceFacts, encoder: Program, pitch: Program) -> None:
        self.slot, self.facts, self.encoder = slot, facts, encoder
        self.state = slot.states["pitch"]
        self.bound = {n: pitch.bind({"T": n}, self.state) for n in (*PITCH_BLOCKS, FIRST_BLOCK)}
        self.width = slot.sizes.hidden
        self.reset()

    def reset(self) -> None:
        self.fed = self.sent = self.rows = 0
        self.span: Span | None = None

    def step(self) -> bool:
        if self.span is None:
            return self._begin()
        return self._advance(self.span)

    def _begin(self) -> bool:
        slot = self.slot
        if not slot.frame_spans.writable:
            return False
        item = slot.clauses.pop()
        if item is None:
            return False
        if isinstance(item, End):
            return slot.frame_spans.push(END)
        self.span = self._encode(*item)
        slot.frame_spans.push(self.span)
        return True

    def _encode(self, clause: Clause, request: Request) -> Span:
        """Run the encoder and decide the clause's length."""
        ids, style = clause.ids[:MAX_PHONEMES], self.facts.styles[request.speaker : request.speaker + 1]
        bound = self.encoder.bind({"N": len(ids)})
        bound.inputs["ids"][0] = ids
        bound.inputs["style"][...] = style
        bound.run()
        self.count = len(ids)
        self.slot.hidden[: self.count] = bound.outputs["h"][0]
        frames_per_unit = self.facts.duration_unit / self.facts.hop / request.speed
        units = np.exp(np.minimum(bound.outputs["log_duration"][0], MAX_LOG_DURATION))
        self._lay(units * np.float32(frames_per_unit))
        self.state.fill(0)
        self.fed = self.sent = 0
        flush = self.facts.lookahead_frames
        self.rows = self.frames + flush
        pause = round(clause.pause_s * self.facts.rate_hz)
        samples = (self.frames - self.unheard) * self.facts.hop + pause
        return Span(self.rows, self.unheard, samples, pause, self._words(clause), style, request)

    def _lay(self, durations: NDArray[np.float32]) -> None:
        """Ends of phonemes in frames, the first frame, how many in whole chunks, and how many of them go unheard."""
        per_s = self.facts.rate_hz / self.facts.hop
        self.ends = np.cumsum(durations, dtype=np.float32)
        self.starts = self.ends - durations
        self.durations = np.maximum(durations, np.float32(1e-3))
        self.first = max(0, int(self.ends[0]) - LEAD_FRAMES - UNHEARD_FRAMES)
        last = min(float(self.ends[-1]), float(self.starts[-2]) + TAIL_S * per_s)
        chunk = self.facts.chunk_frames
        before = int(self.ends[0]) - self.first - LEAD_FRAMES
        self.unheard = max(0, before) // chunk * chunk
        self.frames = max(1, -(-int(np.ceil(last - self.first)) // chunk)) * chunk
        self.real = int(self.ends[-1])

    def _words(self, clause: Clause) -> tuple[SpokenWord, ...]:
        frame_s = self.facts.hop / self.facts.rate_hz

        def second(frame: float) -> float:
            return max(0.0, float(frame) - self.first - self.unheard) * frame_s

        return tuple(
            SpokenWord(w.text, w.start, w.end, second(self.starts[w.first]), second(self.ends[w.last - 1]))
            for w in clause.words
            if w.first < w.last <= self.count
        )

    def _advance(self, span: Span) -> bool:
        """Run the pitch graph over the next block, or flush the acoustic graph's lookahead behind the clause."""
        frames = self.slot.frames
        if self.fed == self.rows:
            return self._flush()
        blocks = (*PITCH_BLOCKS, FIRST_BLOCK) if self.fed == 0 else PITCH_BLOCKS
        size = largest_block(blocks, self.rows - self.fed)
        waiting = not self.slot.sounding and self.sent >= max(first_rows(span), next_block(span, 0))
        if waiting or frames.writable < size:
            return False
        bound = self.bound[size]
        rows = bound.inputs["frames"][0]
        self._lay_rows(self.fed, rows)
        bound.run()
        self.fed += size
        skip = max(0, self.facts.lookahead_frames - (self.fed - size))
        if skip < size:
            self._send(bound.outputs["prosody"][0, skip:])
        return True

    def _lay_rows(self, at: int, rows: NDArray[np.float32]) -> None:
        """Hidden row and position of the frames from `at` on, counted from the clause's first; zeros past its end."""
        frame = np.arange(at, at + len(rows), dtype=np.float32) + np.float32(self.first)
        inside = int(np.clip(min(self.real - self.first, self.frames) - at, 0, len(rows)))
        index = np.searchsorted(self.ends, frame, side="right").clip(0, self.count - 1)
        width = self.width
        np.take(self.slot.hidden, index[:inside], axis=0, out=rows[:inside, :width], mode="clip")
        lengths = self.durations[index]
        rows[:, width] = ((frame - self.starts[index]) / lengths).clip(0, 1)
        rows[:, width + 1] = np.log(lengths)
        rows[inside:] = 0

    def _send(self, prosody: NDArray[np.float32]) -> None:
        """Write finished frames (n, 3) to the acoustic stage's ring."""
        ring, width = self.slot.frames, self.width + POSITION
        done = 0
        while done < len(prosody):
            view = ring.write_view(len(prosody) - done)
            n = len(view)
            self._lay_rows(self.sent, view[:, :width])
            part = prosody[done : done + n]
            view[:, width:] = part
            np.rint(view[:, width] * F0_STEPS, out=view[:, width])
            view[:, width] /= F0_STEPS
            np.greater(part[:, 1], 0, out=view[:, width + 1], casting="unsafe")
            outside = max(0, min(self.real - self.first, self.frames) - self.sent)
            view[outside:] = 0
            ring.commit(n)
            self.sent += n
            done += n

    def _flush(self) -> bool:
        ring, need = self.slot.frames, self.rows - self.sent
        if ring.writable < need:
            return False
        while need:
            view: NDArray[Any] = ring.write_view(need)
            view[...] = 0
            ring.commit(len(view))
            need -= len(view)
        self.reset()
        return True
