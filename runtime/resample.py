"""Another sample rate for a card that lacks the voice's, by a polyphase filter that keeps its state."""

import math

import numpy as np
from numpy.typing import NDArray

_TAPS = 64  # of the slower of the two rates
_KAISER_BETA = 7.86  # 80 dB
_LEAST_ROW = 32  # inputs a row: fewer would spend the time on rows, more on the taps that are zero


class Resampler:
    """Blocks at `rate_in` to blocks at `rate_out` Hz, whatever the two rates; no array is made in a call.

    With L / M the ratio of the rates, output p is the input around p M / L under a windowed sinc (64 taps of
    the slower rate, Kaiser, 80 dB; Crochiere and Rabiner, Multirate Digital Signal Processing, 1983, ch. 4), so
    the filters repeat after M inputs and L outputs. The filters of a few such periods are the columns of one
    band matrix, and a block is one matrix product. From 24 kHz: flat to 11 kHz, images 80 dB down from 13 kHz.
    """

    delay: int
    """Input samples before a sound comes out."""

    def __init__(self, rate_in: int, rate_out: int, block: int) -> None:
        """`block`: samples of each input, a multiple of `rate_in / gcd(rate_in, rate_out)`; else ValueError."""
        period = rate_in // math.gcd(rate_in, rate_out)
        if block % period:
            raise ValueError(
                f"blocks of {block} samples: from {rate_in} to {rate_out} Hz take a multiple of {period}"
            )
        row = next(
            n for n in range(period, block + 1, period) if block % n == 0 and n >= min(_LEAST_ROW, block)
        )
        self._filters = _filters(rate_in, rate_out, row)
        self._block, self._past = block, len(self._filters) - row
        self.delay = (self._past + 1) // 2
        self._line = np.zeros(self._past + block, np.float32)  # the last inputs, then the new ones
        windows = np.lib.stride_tricks.sliding_window_view(self._line, len(self._filters))
        self._windows = windows[::row]
        self._rows = np.empty(self._windows.shape, np.float32)  # apart, so that the product runs in BLAS
        self._out = np.empty(block * rate_out // rate_in, np.float32)
        self._out_rows = self._out.reshape(len(self._rows), -1)
        self(self._line[:block])  # the first product sets BLAS up

    def __call__(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """`samples` (block,) in, (block rate_out / rate_in,) out: the same array again at every call."""
        self._line[self._past :] = samples
        np.copyto(self._rows, self._windows)
        np.matmul(self._rows, self._filters, out=self._out_rows)
        self._line[: self._past] = self._line[self._block :]
        return self._out


def _filters(rate_in: int, rate_out: int, row: int) -> NDArray[np.float32]:
    """(row + taps - 1, outputs of a row): column p filters output p from a row's inputs and those before it."""
    slower = min(1.0, rate_out / rate_in)
    taps = 2 * math.ceil(_TAPS / slower / 2)
    when = np.arange(row * rate_out // rate_in) * rate_in / rate_out  # in inputs
    first = np.floor(when).astype(int)
    t = np.arange(taps) - (taps // 2 - 1) - (when - first)[:, None]  # (outputs, taps)
    window = np.i0(_KAISER_BETA * np.sqrt(np.maximum(0, 1 - (2 * t / taps) ** 2)))
    kernel = np.sinc(slower * t) * window
    kernel /= kernel.sum(axis=1, keepdims=True)
    filters = np.zeros((row + taps - 1, len(when)), np.float32)
    filters[first[:, None] + np.arange(taps), np.arange(len(when))[:, None]] = kernel
    return filters
