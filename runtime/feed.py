"""What the sound thread plays next: the ring's speech, a soft end where it breaks off, or silence."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .ring import Doorbell, Ring

_FADE_S = 0.005
_KEPT_S = 0.5  # what a device may hold unplayed
_SPARE_BLOCKS = 3  # a device takes blocks a few at a time


@dataclass
class PlayerStats:
    """Counted since the player was made."""

    frames: int = 0
    """Samples of speech handed to the device, at the player's rate."""
    underruns: int = 0
    """Times the ring ran dry inside speech."""
    late: int = 0
    """Times the device ran dry because it was served late."""
    lost: int = 0
    """Times the device went away."""

    def trouble(self) -> str:
        """What a listener may have noticed, with the remedy; empty where all went well."""
        broke, told = self.underruns + self.late, []
        if broke:
            told.append(
                f"the sound broke off {broke} times ({self.underruns} for want of speech, {self.late} for want of"
                " processor time): end other work, or allow real-time priority (stonechat doctor)"
            )
        if self.lost:
            told.append(f"the sound device went away {self.lost} times: look at its plug or the sound server")
        return "; ".join(told)


class Feed:
    """Blocks of `block` samples at `rate` Hz out of `ring`.

    What was handed out in the last half second is kept: a device that goes away takes with it what it has not yet
    played, and `rewind` has that played again. Everything is for the one thread that plays, and for the keeper
    while nothing plays; only `ending` and `stopping` are set by others. No call makes an array, waits or raises.
    """

    def __init__(self, ring: Ring, rate: int, block: int, lead_in_s: float) -> None:
        self.ring, self.stats = ring, PlayerStats()
        self.ending = False
        """Set by who drains: no more will be written. Taken back once the ring is empty."""
        self.stopping = False
        """Set by who stops: fade out and drop the rest. Taken back when that is done."""
        self.unheard = 0
        """Blocks to go, after the last sample was handed out, until it was heard."""
        self.drained, self.stopped = Doorbell(), Doorbell()
        self._block_s = block / rate
        self._kept = np.zeros((math.ceil(_KEPT_S / self._block_s), block), np.float32)
        self._rows = list(self._kept)
        self._filled = 0  # rows filled since the beginning
        self._again = 0  # of them, rows to be played once more
        self._handed = 0  # rows this device was given
        self._delay_s = 0.0
        self._silence = np.zeros(block, np.float32)
        self._last = self._silence  # what was played last
        self._lead_in_s = lead_in_s
        self._lead_in = self._blocks(lead_in_s)  # blocks of silence still to come
        self._flowing = False  # the last block was speech to its end
        self._rising = False  # speech was torn off: it comes back softly
        self._index = np.arange(round(rate * _FADE_S), dtype=np.float32)
        self._gain = np.empty_like(self._index)

    def next(self, delay_s: float) -> NDArray[np.float32]:
        """The next block, (block,); it will be heard in `delay_s` seconds."""
        if self._lead_in:
            self._lead_in -= 1
            return self._silence
        self._delay_s = min(max(0.0, delay_s), _KEPT_S)  # some drivers answer anything
        self._handed += 1
        row = self._replayed() if self._again else self._fresh()
        if self.unheard:
            self.unheard -= 1
            if not self.unheard:
                self.drained.ring()
        self._last = row
        return row

    def rewind(self) -> None:
        """The device went away with what it had not yet played: the next one begins with that."""
        again = min(self._again + min(self._blocks(self._delay_s) + 1, self._handed), len(self._rows) - 1)
        if self.unheard:
            self.unheard += again - self._again
        self._again, self._handed, self._rising = again, 0, True
        self._lead_in = self._blocks(self._lead_in_s)

    def forget(self) -> None:
        """Drop all that is queued or waits to be played again."""
        self.ring.clear()
        self._again = self.unheard = 0
        self._flowing = self._rising = self.ending = self.stopping = False
        self.stopped.ring()
        self.drained.ring()

    def wipe(self) -> None:
        """Zero what is kept, once nothing plays any more."""
        self._kept.fill(0)

    def _blocks(self, seconds: float) -> int:
        return math.ceil(seconds / self._block_s - 1e-6)

    def _replayed(self) -> NDArray[np.float32]:
        row = self._rows[(self._filled - self._again) % len(self._rows)]
        self._again -= 1
        self._rise(row, len(row))
        if self.stopping:
            self._cut(row, len(row))
        return row

    def _fresh(self) -> NDArray[np.float32]:
        row = self._rows[self._filled % len(self._rows)]
        self._filled += 1
        got = self.ring.pop(row)
        row[got:] = 0
        self.stats.frames += got
        self._rise(row, got)
        if self.stopping:
            self._cut(row, got)
        elif got == len(row):
            self._flowing = True
        else:
            self._run_dry(row, got)
        return row

    def _run_dry(self, row: NDArray[np.float32], got: int) -> None:
        spoke = self._flowing or got > 0
        self._flowing = False
        if spoke:
            self._decay(row, got)
        if self.ending:
            self.unheard = self._blocks(self._delay_s) + _SPARE_BLOCKS
            self.ending = False
        elif spoke and not self.ring.closed:
            self.stats.underruns += 1
            self._rising = True

    def _rise(self, row: NDArray[np.float32], got: int) -> None:
        """Speech that was torn off comes back softly."""
        if self._rising and got:
            n = min(len(self._index), got)
            np.multiply(row[:n], self._ramp(n), out=row[:n])
            self._rising = False

    def _cut(self, row: NDArray[np.float32], got: int) -> None:
        """Fade out over 5 ms, or the `got` samples there are, and drop the rest."""
        n = min(len(self._index), got)
        np.multiply(row[:n], self._ramp(n)[::-1], out=row[:n])
        row[n:] = 0
        if self._flowing and not got:
            self._decay(row, 0)
        self.forget()

    def _decay(self, row: NDArray[np.float32], at: int) -> None:
        """From the sample before `at` down to zero: a step would be heard as a click."""
        n = min(len(self._index), len(row) - at)
        edge = row[at - 1] if at else self._last[-1]
        np.multiply(self._ramp(n)[::-1], edge, out=row[at : at + n])

    def _ramp(self, n: int) -> NDArray[np.float32]:
        """(n,) from 0 to just under 1."""
        return np.multiply(self._index[:n], 1 / max(n, 1), out=self._gain[:n])
