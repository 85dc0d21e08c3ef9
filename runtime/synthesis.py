"""Source and synthesis: from F0 and the vocoder's three spectra to samples, a frame at a time.

The same formula as `export/synthesis.py`: a band-limited pulse train (closed form of a sum of cosines, after Stilson
and Smith, 1996), its STFT shaped by a harmonic amplitude and phase, plus shaped Gaussian noise, then overlap-add of
the inverse STFT (Hann, window 4 hops). All arrays are views of one slot's memory, made at construction.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .facts import VoiceFacts

Floats = NDArray[np.float32]

ROWS = 15
"""Frames worked on at a time, at most: scratch stays in the second-level cache, whatever the block."""
MAX_LOG_AMPLITUDE = np.float32(2.0)
TINY = np.float32(2e-4)
"""The closed form is 0 / 0 at zero."""
_NATIVE_FFT = np.lib.NumpyVersion(np.__version__) >= "2.0.0"  # float32 transforms that write into out=


def rfft(frames: Floats, out: NDArray[np.complex64]) -> None:
    """Real FFT of each row into `out`."""
    if _NATIVE_FFT:
        np.fft.rfft(frames, out=cast(Any, out))
    else:
        np.copyto(out, np.fft.rfft(frames), casting="same_kind")


def irfft(spectra: NDArray[np.complex64], out: Floats) -> None:
    """Inverse of `rfft`."""
    if _NATIVE_FFT:
        np.fft.irfft(spectra, out=cast(Any, out))
    else:
        np.copyto(out, np.fft.irfft(spectra), casting="same_kind")


def pulse_train(theta: Floats, harmonics: Floats, scratch: Floats, out: Floats) -> None:
    """Sum of cos(k theta) for k up to `harmonics`, the last one fading as its number is crossed; all arrays (n,).

    `scratch` is (3, n). theta lies in [0, pi] (the sum is even) and not nearer to zero than TINY.
    """
    half, whole, angle = scratch
    np.floor(harmonics, out=whole)
    np.multiply(theta, np.float32(0.5), out=half)
    np.sin(half, out=half)
    np.add(whole, np.float32(0.5), out=angle)
    np.multiply(angle, theta, out=angle)
    np.sin(angle, out=out)
    np.divide(out, half, out=out)
    np.subtract(out, np.float32(1.0), out=out)
    np.multiply(out, np.float32(0.5), out=out)
    np.add(whole, np.float32(1.0), out=angle)
    np.multiply(angle, theta, out=angle)
    np.cos(angle, out=angle)
    np.subtract(harmonics, whole, out=half)
    np.multiply(angle, half, out=angle)
    np.add(out, angle, out=out)


def layout(facts: VoiceFacts) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Name to (shape, dtype) of every array that a `Synthesiser` keeps in its slot."""
    hop, window, bins = facts.hop, facts.window, facts.window // 2 + 1
    n = ROWS * hop
    return {
        "pulses": ((window - hop + n,), np.float32),
        "overlap": ((window - hop + n,), np.float32),
        "phase": ((2, n), np.float64),
        "f0": ((n,), np.float32),
        "gate": ((n,), np.float32),
        "theta": ((n,), np.float32),
        "scratch": ((3, n), np.float32),
        "frames": ((ROWS, window), np.float32),
        "source": ((ROWS, bins), np.complex64),
        "shape": ((ROWS, bins), np.complex64),
        "noise": ((ROWS, bins), np.complex64),
        "level": ((ROWS, bins), np.float32),
        "angle": ((ROWS, bins), np.float32),
        "samples": ((n,), np.float32),
    }


class Synthesiser:
    """One session's source and overlap-add; state is the pulse and overlap histories, the phase and the noise."""

    def __init__(self, facts: VoiceFacts, arrays: dict[str, NDArray[Any]]) -> None:
        self.a, self.hop, self.window = arrays, facts.hop, facts.window
        self.bins = facts.window // 2 + 1
        self.rate = facts.rate_hz
        self.top = np.float32(facts.top_hz)
        self.centre = facts.log_f0_centre
        self.hann = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(facts.window) / facts.window)).astype(
            np.float32
        )
        self.fade = self.hann / np.float32(1.5)
        # Unit white noise has this amplitude in an STFT with a Hann window (sum of its square is 3/8 of it).
        self.noise_scale = np.float32(math.sqrt(0.375 * facts.window / 2))
        self.ramp = (np.arange(facts.hop) / facts.hop).astype(np.float32)
        self.windows = np.lib.stride_tricks.sliding_window_view(arrays["pulses"], facts.window)[:: facts.hop]
        self.normals = arrays["noise"].view(np.float32)
        self.begin_clause()
        self.seed(0)

    def seed(self, seed: int) -> None:
        """Start the noise of an utterance."""
        self.random = np.random.Generator(np.random.PCG64(seed))

    def begin_clause(self) -> None:
        """Forget the sound before."""
        self.a["pulses"].fill(0)
        self.a["overlap"].fill(0)
        self.turns, self.last_f0, self.last_gate = 0.0, math.exp(self.centre), 0.0

    def run(self, spectrum: Floats, ahead: Floats, out: Floats) -> None:
        """Frames to finished samples.

        spectrum (n, 3 * bins): log amplitude and phase of the harmonic part, log amplitude of the noise, n <= ROWS;
        ahead (n, 2): centred log F0 and voicing two frames later; out (n * hop,): the samples that end
        half a window less a hop before each frame's centre.
        """
        n = len(spectrum)
        self._pulses(ahead)
        self._spectra(spectrum, n)
        self._overlap(n, out)

    def _pulses(self, ahead: Floats) -> None:
        a, hop = self.a, self.hop
        total = len(ahead) * hop
        keep = self.window - hop
        for row, (log_f0, gate) in enumerate(ahead):
            to = slice(row * hop, (row + 1) * hop)
            f0 = math.exp(float(log_f0) + self.centre)
            np.multiply(self.ramp, np.float32(f0 - self.last_f0), out=a["f0"][to])
            a["f0"][to] += np.float32(self.last_f0)
            np.multiply(self.ramp, np.float32(float(gate) - self.last_gate), out=a["gate"][to])
            a["gate"][to] += np.float32(self.last_gate)
            self.last_f0, self.last_gate = f0, float(gate)
        self._kernel(total, a["pulses"][keep : keep + total])

    def _kernel(self, total: int, out: Floats) -> None:
        a = self.a
        f0, theta = a["f0"][:total], a["theta"][:total]
        phase, turn = a["phase"][:, :total]
        np.cumsum(f0, dtype=np.float64, out=phase)
        np.multiply(phase, 1.0 / self.rate, out=phase)
        np.add(phase, self.turns, out=phase)
        self.turns = float(phase[-1]) % 1.0
        np.rint(phase, out=turn)
        np.subtract(phase, turn, out=phase)
        np.multiply(phase, 2 * math.pi, out=theta, casting="same_kind")
        np.abs(theta, out=theta)
        np.maximum(theta, TINY, out=theta)
        np.divide(self.top, f0, out=f0)
        pulse_train(theta, f0, a["scratch"][:, :total], out)
        np.multiply(out, a["gate"][:total], out=out)

    def _spectra(self, spectrum: Floats, n: int) -> None:
        a, bins = self.a, self.bins
        source, shape, noise = a["source"][:n], a["shape"][:n], a["noise"][:n]
        level, angle = a["level"][:n], a["angle"][:n]
        np.multiply(self.windows[:n], self.hann, out=a["frames"][:n])
        rfft(a["frames"][:n], source)
        keep = self.window - self.hop
        a["pulses"][:keep] = a["pulses"][n * self.hop : n * self.hop + keep]
        np.minimum(spectrum[:, :bins], MAX_LOG_AMPLITUDE, out=level)
        np.exp(level, out=level)
        np.multiply(spectrum[:, bins : 2 * bins], np.float32(math.pi), out=angle)
        np.cos(angle, out=shape.real)
        np.sin(angle, out=shape.imag)
        np.multiply(shape, source, out=source)
        np.multiply(source, level, out=source)
        np.minimum(spectrum[:, 2 * bins :], MAX_LOG_AMPLITUDE, out=level)
        np.exp(level, out=level)
        np.multiply(level, self.noise_scale, out=level)
        self.random.standard_normal(dtype=np.float32, out=self.normals[:n])
        np.multiply(noise, level, out=noise)
        np.add(source, noise, out=source)

    def _overlap(self, n: int, out: Floats) -> None:
        a, hop, window = self.a, self.hop, self.window
        frames, overlap = a["frames"][:n], a["overlap"]
        irfft(a["source"][:n], frames)
        np.multiply(frames, self.fade, out=frames)
        for row in range(n):
            overlap[row * hop : row * hop + window] += frames[row]
        out[:] = overlap[: n * hop]
        overlap[: window - hop] = overlap[n * hop : n * hop + window - hop]
        overlap[window - hop :] = 0

    def flush(self, out: Floats) -> None:
        """The samples still under the window at the end of a clause: out (m,) with m <= window - hop."""
        out[:] = self.a["overlap"][: len(out)]
        self.a["overlap"].fill(0)
