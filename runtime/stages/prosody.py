"""Stage 3: a clause's phonemes to frames of hidden rows, position and prosody (F0, voicing, energy)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import Program
from ..facts import VoiceFacts
from ..slot import END, MAX_PHONEMES, End, Request, Slot, Span, SpokenMark, SpokenWord
from ..text import UNSAID, Clause, Delivery
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
SPEEDS = (0.6, 1.6)
"""What a document can make of the call's speed: the voice carries no more."""
MAX_VOLUME = 2.0
QUIET = 0.25
"""Energy below which nothing is heard (some -45 dB)."""
ONSET_FRAMES = 4
"""Frames by which the first phoneme is heard before its time."""
BREAK_TAIL_FRAMES = 6
"""Frames kept after the last that is heard where a break follows: what sounds there fades out."""
POSITION = 2
PROSODY = 3


class ProsodyWorker:
    """Encodes clause after clause, lays each on the frame grid, and runs the pitch graph along it."""

    def __init__(self, slot: Slot, facts: VoiceFacts, encoder: Program, pitch: Program) -> None:
        self.slot, self.facts, self.encoder = slot, facts, encoder
        self.state = slot.states["pitch"]
        self.bound = {n: pitch.bind({"T": n}, self.state) for n in (*PITCH_BLOCKS, FIRST_BLOCK)}
        self.width = slot.sizes.hidden
        self.offsets: NDArray[np.float32] | None = None
        self.frames = self.real = self.heard = 0
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
        clause, request = item
        if not clause.ids:
            return slot.frame_spans.push(self._silence(clause.delivery or UNSAID, request))
        self.span = self._encode(clause, request)
        slot.frame_spans.push(self.span)
        return True

    def _silence(self, delivery: Delivery, request: Request) -> Span:
        """A pause that follows no clause."""
        pause = round((delivery.gap_s or 0.0) * self.facts.rate_hz)
        marks = tuple(SpokenMark(name, 0.0) for name, _ in delivery.marks)
        return Span(0, 0, pause, pause, (), self.facts.styles[:1], request, marks=marks)

    def _encode(self, clause: Clause, request: Request) -> Span:
        """Run the encoder and decide the clause's length."""
        ids, delivery = clause.ids[:MAX_PHONEMES], clause.delivery or UNSAID
        speaker = self.facts.speakers.get(delivery.speaker, request.speaker)
        style = self.facts.styles[speaker : speaker + 1]
        bound = self.encoder.bind({"N": len(ids)})
        bound.inputs["ids"][0] = ids
        bound.inputs["style"][...] = style
        bound.run()
        self.count = len(ids)
        self.slot.hidden[: self.count] = bound.outputs["h"][0]
        frames_per_unit = self.facts.duration_unit / self.facts.hop / request.speed
        units = np.exp(np.minimum(bound.outputs["log_duration"][0], MAX_LOG_DURATION))
        durations = units * np.float32(frames_per_unit)
        gap = None if delivery.gap_s is None else round(delivery.gap_s * self.facts.rate_hz)
        if clause.delivery:
            durations /= self._spread([_times(m.rate, request.speed) for _, m in delivery.steps], delivery)
        self._lay(durations)
        if gap is not None:
            self._trim()
        self._shift(delivery)
        self.state.fill(0)
        self.fed = self.sent = 0
        flush = self.facts.lookahead_frames
        self.rows = self.frames + flush
        pause = round(clause.pause_s * self.facts.rate_hz) if gap is None else self._pause(gap)
        samples = (self.frames - self.unheard) * self.facts.hop + pause
        return Span(
            self.rows,
            self.unheard,
            samples,
            pause,
            self._words(clause),
            style,
            request,
            self._gains(delivery, request.volume),
            tuple(SpokenMark(name, self._second(self._start(at))) for name, at in delivery.marks),
        )

    def _spread(self, values: list[float], delivery: Delivery) -> NDArray[np.float32]:
        """A value for each phoneme, from one for each step of the delivery."""
        firsts = [min(first, self.count) for first, _ in delivery.steps]
        counts = np.diff([*firsts, self.count])
        return np.repeat(np.asarray(values, np.float32), counts)

    def _shift(self, delivery: Delivery) -> None:
        """What each phoneme's log F0 is raised by, None where it is nothing."""
        steps = [manner.log_f0 for _, manner in delivery.steps]
        self.offsets = self._spread(steps, delivery) if any(steps) else None

    def _gains(self, delivery: Delivery, volume: float) -> tuple[tuple[int, float], ...]:
        """Volume by frame of the sound, () where it is the request's throughout."""
        if all(manner.gain == 1.0 for _, manner in delivery.steps):
            return ()
        before = self.first + self.unheard
        return tuple(
            (
                max(0, round(float(self._start(first))) - before) if first else 0,
                min(manner.gain * volume, MAX_VOLUME),
            )
            for first, manner in delivery.steps
        )

    def _trim(self) -> None:
        """Find the last frame that is heard, and leave out the silence behind it: a break of its own length follows.

        Clauses end with a phoneme that is mostly silence, and only the pitch graph tells how much of it.
        """
        self.state.fill(0)
        lag, heard = self.facts.lookahead_frames, 0
        for at in range(0, self.frames + lag, PITCH_BLOCKS[0]):
            bound = self.bound[PITCH_BLOCKS[0]]
            self._lay_rows(at, bound.inputs["frames"][0])
            bound.run()
            loud = np.flatnonzero(bound.outputs["prosody"][0, :, 2] > QUIET)
            heard = at - lag + int(loud[-1]) + 1 if len(loud) else heard
        self.heard = max(1, min(heard, self.frames, self.real - self.first))
        chunk = self.facts.chunk_frames
        self.frames = min(self.frames, -(-(self.heard + BREAK_TAIL_FRAMES) // chunk) * chunk)

    def _pause(self, gap: int) -> int:
        """Samples of silence that make a break whole, with those that end this clause and begin the next one."""
        return max(0, gap - (self.frames - self.heard + LEAD_FRAMES - ONSET_FRAMES) * self.facts.hop)

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

    def _start(self, phoneme: int) -> float:
        return float(self.starts[min(phoneme, self.count - 1)])

    def _second(self, frame: float) -> float:
        """Seconds from the clause's first sound to a frame."""
        frame_s = self.facts.hop / self.facts.rate_hz
        return min(max(0.0, float(frame) - self.first - self.unheard), self.frames - self.unheard) * frame_s

    def _words(self, clause: Clause) -> tuple[SpokenWord, ...]:
        second = self._second
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
        index = self._phonemes(frame)
        width = self.width
        np.take(self.slot.hidden, index[:inside], axis=0, out=rows[:inside, :width], mode="clip")
        lengths = self.durations[index]
        rows[:, width] = ((frame - self.starts[index]) / lengths).clip(0, 1)
        rows[:, width + 1] = np.log(lengths)
        rows[inside:] = 0

    def _phonemes(self, frame: NDArray[np.float32]) -> NDArray[np.intp]:
        """Which phoneme sounds at each frame."""
        return np.searchsorted(self.ends, frame, side="right").clip(0, self.count - 1)

    def _raise(self, log_f0: NDArray[np.float32], offsets: NDArray[np.float32]) -> None:
        """Add each phoneme's offset to the frames from the next one to send on."""
        frame = np.arange(self.sent, self.sent + len(log_f0), dtype=np.float32) + np.float32(self.first)
        log_f0 += offsets[self._phonemes(frame)]

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
            if self.offsets is not None:
                self._raise(view[:, width], self.offsets)
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


def _times(rate: float, speed: float) -> float:
    """How much faster than the call's speed a rate is, within what the voice carries of both."""
    return min(max(rate * speed, min(SPEEDS[0], speed)), max(SPEEDS[1], speed)) / speed
