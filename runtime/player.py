"""Sound out through PortAudio: a callback that copies from the PCM ring and does nothing else worth naming.

The stream stays open between prompts and plays zeros then, so that no device swallows a first word.
"""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .errors import AudioError
from .ring import Doorbell, Ring, ring_nbytes

_BLOCK_S = 0.01  # fixed, so that every buffer is made before the stream starts
_FADE_S = 0.005
_HEALTH_S = 0.25  # how long a wait sleeps before it looks whether the device is still there
_TAPS = 64


@dataclass
class PlayerStats:
    """Counted by the callback since the stream opened."""

    frames: int = 0
    """Samples of speech handed to the device, at the player's rate."""
    underruns: int = 0
    """Times the ring ran dry inside speech."""
    late: int = 0
    """Times the device ran dry because the callback came late."""


class Player:
    """Plays float32 mono at `rate` Hz from `ring` (its own of `ring_s` seconds unless one is given).

    `device` is an index or part of a name; None is the system's default. The first `lead_in_s` seconds after
    opening are silence: some devices swallow them. A device that refuses `rate` gets twice the rate, and one
    without a mono channel gets two alike. `latency_s` is what the device is asked to buffer: through ALSA's
    PulseAudio plug-in 20 to 60 ms broke up on a busy 2-core machine, 80 ms and more did not in 20 runs.
    Write, then `drain` to the end or `stop` at once.

    Errors: AudioError without PortAudio or a device, when it refuses the stream, or when it vanishes.
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
    ) -> None:
        self.rate = rate
        self.stats = PlayerStats()
        self.ring = ring or _own_ring(round(rate * ring_s))
        self._block = np.zeros(round(rate * _BLOCK_S), np.float32)
        fade = np.arange(round(rate * _FADE_S), dtype=np.float32)
        self._fade_index, self._fade_gain = fade, np.empty_like(fade)
        self._lead_in = round(rate * lead_in_s)  # frames of silence still to come
        self._flowing = False  # the last block was speech to its end
        self._ending = False  # set by drain, taken back by the callback when the ring is empty
        self._stopping = False  # set by stop, taken back by the callback after the fade
        self._quiet = Doorbell()
        self._stream, self.device_rate, self._channels = _open(self, rate, device, latency_s)
        self._double = Doubler(len(self._block)) if self.device_rate != rate else None
        self._wide = np.zeros(2 * len(self._block), np.float32)
        _start(self._stream)

    @property
    def latency_s(self) -> float:
        """From the callback to the ear, as the device tells it."""
        return float(self._stream.latency)

    def write(self, samples: NDArray[np.float32]) -> None:
        """Queue `samples` (n,) in -1..1; sleeps while the ring is full, returns once it closes."""
        done = 0
        while done < len(samples) and not self.ring.closed:
            done += self.ring.push(samples[done:])
            if done < len(samples) and not self.ring.wait_writable(_HEALTH_S):
                self._check_device()

    def drain(self) -> None:
        """Play what is queued to its last sample. To be called as soon as the last one is written."""
        self._ending = True
        self._await(lambda: not self._ending)
        time.sleep(self.latency_s + 2 * _BLOCK_S)

    def stop(self) -> None:
        """Fade out within 5 ms and drop what is queued. Whoever writes must have stopped before."""
        self._stopping = True
        self._await(lambda: not self._stopping)

    def close(self) -> None:
        """Give the device back."""
        with contextlib.suppress(Exception):  # a device that is gone cannot be closed any better
            self._stream.stop()
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _await(self, ready: Callable[[], bool]) -> None:
        while not self._quiet.wait(ready, _HEALTH_S):
            self._check_device()

    def _check_device(self) -> None:
        if not self._stream.active:
            raise AudioError("the sound device is gone; plug it in, or write to a file with -o file.wav")

    def _callback(self, outdata: NDArray[np.float32], frames: int, when: object, status: Any) -> None:
        """PortAudio's thread: fill `outdata` (frames, channels). Never allocates, prints or raises."""
        if status:
            self.stats.late += bool(status.output_underflow)
        self._next_block()
        sound = self._block
        if self._double:
            self._double(self._block, self._wide)
            sound = self._wide
        for channel in range(self._channels):
            outdata[:, channel] = sound

    def _next_block(self) -> None:
        """The next 10 ms into `_block`: speech, the end of it, or silence."""
        if self._lead_in > 0:
            self._lead_in -= len(self._block)
            return
        got = self.ring.pop(self._block)
        self._block[got:] = 0
        self.stats.frames += got
        if self._stopping:
            self._cut(got)
        elif got == len(self._block):
            self._flowing = True
        else:
            self._ran_dry(got)

    def _ran_dry(self, got: int) -> None:
        if self._ending or self.ring.closed:
            self._ending = False
            self._quiet.ring()
        elif self._flowing or got:
            self.stats.underruns += 1
        self._flowing = False

    def _cut(self, got: int) -> None:
        """Fade the block's first 5 ms, or the `got` samples there are, to zero, and drop the rest."""
        n = min(got, len(self._fade_index))
        gain = self._fade_gain[:n]
        np.multiply(self._fade_index[:n], -1 / max(n, 1), out=gain)
        np.add(gain, 1, out=gain)
        np.multiply(self._block[:n], gain, out=self._block[:n])
        self._block[n:] = 0
        self.ring.clear()
        self._flowing = self._ending = self._stopping = False
        self._quiet.ring()


class Doubler:
    """Twice the sample rate, by a half-band filter in its two phases; no array is made in a call.

    A half-band filter's even taps are zero but for the middle one. So every other output is an input sample
    as it was, and those between are one 64-tap windowed sinc (Kaiser, 80 dB) of their neighbours: flat to
    11 kHz from 24 kHz, images from 13 kHz down by 80 dB, 32 input samples late.
    """

    def __init__(self, block: int) -> None:
        """`block`: the longest input, in samples."""
        offset = np.arange(_TAPS) - (_TAPS - 1) / 2
        taps = np.sinc(offset) * np.kaiser(_TAPS, 7.86)
        self._taps = (taps / taps.sum()).astype(np.float32)
        self._line = np.zeros(_TAPS - 1 + block, np.float32)  # the last inputs, then the new ones
        self._windows = np.lib.stride_tricks.sliding_window_view(self._line, _TAPS)  # (block, _TAPS)
        self._between = np.empty(block, np.float32)

    def __call__(self, samples: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """`samples` (n,) to `out` (2 n,)."""
        n = len(samples)
        self._line[_TAPS - 1 : _TAPS - 1 + n] = samples
        np.matmul(self._windows[:n], self._taps, out=self._between[:n])
        out[0::2] = self._line[_TAPS // 2 - 1 : _TAPS // 2 - 1 + n]
        out[1::2] = self._between[:n]
        self._line[: _TAPS - 1] = self._line[n : n + _TAPS - 1]


def output_devices() -> list[str]:
    """One line for each device that can play: its index and name.

    Errors: AudioError without PortAudio.
    """
    devices = _sounddevice().query_devices()
    return [f"{d['index']}: {d['name']}" for d in devices if d["max_output_channels"] > 0]


def _sounddevice() -> Any:
    """The module, loaded only when sound is wanted: it opens PortAudio as it loads."""
    try:
        import sounddevice
    except (ImportError, OSError) as error:
        raise AudioError(
            f"no sound output ({error}): install it with `apt install libportaudio2` and `pip install"
            " sounddevice`, or write to a file with -o file.wav"
        ) from error
    return sounddevice


def _own_ring(frames: int) -> Ring:
    capacity = 1 << max(frames - 1, 1).bit_length()
    return Ring(np.zeros(ring_nbytes(np.float32, (), capacity), np.uint8), np.float32, (), capacity)


def _open(player: Player, rate: int, device: int | str | None, latency_s: float) -> tuple[Any, int, int]:
    """The stream (not started), its rate and its channels: as asked, else stereo, else at twice the rate."""
    sd = _sounddevice()
    if isinstance(device, str) and device.isdecimal():
        device = int(device)
    refusals = []
    for device_rate, channels in ((rate, 1), (rate, 2), (2 * rate, 1), (2 * rate, 2)):
        try:
            stream = sd.OutputStream(
                samplerate=device_rate,
                blocksize=round(rate * _BLOCK_S) * device_rate // rate,
                device=device,
                latency=latency_s,
                channels=channels,
                dtype="float32",
                callback=player._callback,
            )
            return stream, device_rate, channels
        except (sd.PortAudioError, ValueError) as error:
            refusals.append(str(error))
    raise AudioError(_refused(rate, device, refusals))


def _start(stream: Any) -> None:
    try:
        stream.start()
    except _sounddevice().PortAudioError as error:
        raise AudioError(
            f"the sound device does not start ({error}); close other programs that use it"
        ) from error


def _refused(rate: int, device: int | str | None, refusals: list[str]) -> str:
    devices = output_devices()
    known = (
        "\n  ".join(["devices that can play:", *devices]) if devices else "there is no device that can play"
    )
    return (
        f"no sound at {rate} or {2 * rate} Hz from device {'(default)' if device is None else device!r}:"
        f" {refusals[0]}\n{known}\nname one of them, or write to a file with -o file.wav"
    )
