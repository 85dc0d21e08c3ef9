"""Sound out: a thread of PortAudio's that copies from the PCM ring, and one that keeps the device.

The stream stays open between prompts and plays zeros then, so that no device swallows a first word.
"""

import atexit
import contextlib
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .errors import AudioError, OptionError
from .feed import Feed, PlayerStats
from .output import Card, Wanted, block_and_rates, open_card, output_devices
from .resample import Resampler
from .ring import Doorbell, Ring, ring_nbytes

__all__ = ["Player", "PlayerStats", "output_devices"]

_RATES_HZ = (8000, 192000)
_HEALTH_S = 0.25  # how long a wait sleeps before it looks whether the device is still there
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 0.5  # between two tries to have it back
_END_S = 3.0  # that a device which hangs may keep `close` waiting


class Player:
    """Plays float32 mono at `rate` Hz from `ring` (its own of `ring_s` seconds unless one is given).

    `device` is an index or part of a name; None is the system's default. A card that lacks `rate` or a mono
    channel gets the sound converted. The first `lead_in_s` seconds after opening are silence: some devices
    swallow them. `latency_s` is what the device is asked to buffer: through ALSA's PulseAudio plug-in 20 to 60 ms
    broke up on a busy 2-core machine, 80 ms and more did not in 20 runs. `environment` is set while the device is
    opened, such as a platform's `audio().environment`. `on_thread` is called once by the thread that plays, to ask
    for its priority and processors.

    Write, then `drain` to the end or `stop` at once. A device that goes away is waited for, with one warning, and
    speech goes on from what was last heard. After `patience_s` seconds without it calls raise AudioError and drop
    what is queued; it is still waited for.

    Errors: AudioError without PortAudio or a device, or when it refuses the stream. OptionError for a wrong rate.
    """

    def __init__(
        self,
        rate: int = 24000,
        device: int | str | None = None,
        ring_s: float = 0.2,
        lead_in_s: float = 0.05,
        latency_s: float = 0.12,
        *,
        ring: Ring | None = None,
        environment: Mapping[str, str] | None = None,
        patience_s: float = 20.0,
        on_thread: Callable[[], object] | None = None,
    ) -> None:
        if type(rate) is not int or not _RATES_HZ[0] <= rate <= _RATES_HZ[1]:
            raise OptionError(
                f"a rate of {rate!r} Hz: use a whole number from {_RATES_HZ[0]} to {_RATES_HZ[1]}"
            )
        self.rate, self.patience_s = rate, patience_s
        self.ring = ring or _own_ring(round(rate * ring_s))
        self._block, _ = block_and_rates(rate)
        self._feed = Feed(self.ring, rate, self._block, lead_in_s)
        self.stats = self._feed.stats
        self._wanted = Wanted(rate, device, latency_s, environment or {})
        self._on_thread, self._begun = on_thread, on_thread is None
        self._resample: Resampler | None = None
        self._card: Card | None = None
        self._bell = Doorbell()  # wakes the keeper
        self._alive_s = time.monotonic()  # of the last block
        self._closing = self._given_up = False
        self._open()
        if isinstance(device, int) or (device and device.isdecimal()):  # a number is good for one look only
            self._wanted = replace(self._wanted, device=self.device)
        self._keeper = threading.Thread(target=self._keep, name="stonechat-player", daemon=True)
        self._keeper.start()
        atexit.register(self.close)

    def write(self, samples: NDArray[np.float32]) -> None:
        """Queue `samples` (n,) in -1..1; sleeps while the ring is full, returns once it closes."""
        done = 0
        while done < len(samples) and not self.ring.closed:
            self._check()
            done += self.ring.push(samples[done:])
            if done < len(samples):
                self.ring.wait_writable(_HEALTH_S)

    def drain(self) -> None:
        """Play what is queued until its last sample was heard. To be called as soon as it is written."""
        feed = self._feed
        feed.ending = True
        self._await(feed.drained, lambda: not feed.ending and not feed.unheard)

    def stop(self) -> None:
        """Fade out within 5 ms and drop what is queued. Whoever writes must have stopped before."""
        self._feed.stopping = True
        self._bell.ring()  # without a device it is the keeper who drops it
        self._await(self._feed.stopped, lambda: not self._feed.stopping)

    def close(self) -> None:
        """Give the device back."""
        self._closing = True
        self._bell.ring()
        self._keeper.join(_END_S)
        atexit.unregister(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _await(self, bell: Doorbell, ready: Callable[[], bool]) -> None:
        self._check()
        while not bell.wait(ready, _HEALTH_S):
            self._check()
        self._check()  # what was dropped is not what was played

    def _check(self) -> None:
        if self._closing:
            raise AudioError("the player is closed: make another")
        if self._given_up:
            raise AudioError(
                f"the sound device {self.device!r} has been gone for {self.patience_s:g} s: plug it in or restart the"
                " sound server, or write to a file with -o file.wav"
            )

    # --- the sound thread ---

    def _callback(self, outdata: NDArray[np.float32], frames: int, when: Any, status: Any) -> None:
        """PortAudio's thread: fill `outdata` (frames, channels). Never makes an array, waits, prints or raises."""
        if not self._begun:
            self._begin()
        if status:
            self.stats.late += bool(status.output_underflow)
        self._alive_s = time.monotonic()
        delay_s = when.outputBufferDacTime - when.currentTime
        sound = self._feed.next(delay_s if delay_s > 0 else self.latency_s)  # some drivers do not tell
        if self._resample:
            sound = self._resample(sound)
        for channel in range(outdata.shape[1]):
            outdata[:, channel] = sound if channel < 2 else 0

    def _begin(self) -> None:
        self._begun = True
        try:
            if self._on_thread:
                self._on_thread()
        except Exception as error:
            warnings.warn(f"the player's on_thread failed: {error!r}", RuntimeWarning, stacklevel=1)

    # --- the keeper ---

    def _open(self) -> None:
        card = open_card(self._wanted, self._callback, self._bell.ring)
        self._resample = Resampler(self.rate, card.rate, self._block) if card.rate != self.rate else None
        self.device, self.device_rate, self.channels = card.name, card.rate, card.channels
        self.latency_s = card.latency_s
        self._begun = self._on_thread is None
        card.start()
        self._card = card

    def _keep(self) -> None:
        """Have the device back whenever it goes; close it in the end."""
        pause_s = _FIRST_PAUSE_S
        while not self._closing:
            if self._card:
                self._bell.wait(lambda: self._closing or not self._plays(), _HEALTH_S)
                if self._plays():
                    pause_s = _FIRST_PAUSE_S
                else:
                    self._lose()
            else:
                self._bell.wait(lambda: self._closing or self._feed.stopping, pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                self._try()
            self._given_up = time.monotonic() - self._alive_s > self.patience_s
            if self._given_up:
                self._feed.stopping = True
        if self._card:
            self._card.close()
        self._feed.wipe()

    def _plays(self) -> bool:
        return self._card is not None and self._card.stream.active

    def _lose(self) -> None:
        if self._card:
            self._card.close()
        self._card = None
        self.stats.lost += 1
        self._feed.rewind()
        text = f"the sound device {self.device!r} is gone: speech goes on when it is back"
        warnings.warn(text, RuntimeWarning, stacklevel=1)

    def _try(self) -> None:
        """Meanwhile nothing plays, and the feed is ours."""
        if self._feed.stopping:
            self._feed.forget()
        if not self._closing:
            with contextlib.suppress(AudioError):
                self._open()


def _own_ring(frames: int) -> Ring:
    capacity = 1 << max(frames - 1, 1).bit_length()
    return Ring(np.zeros(ring_nbytes(np.float32, (), capacity), np.uint8), np.float32, (), capacity)
