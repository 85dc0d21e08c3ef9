"""What can be measured in a waveform without a judge: clicks, clipping, silences; and a picture of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Wave = NDArray[np.float32]
"""Mono samples (N,), full scale at +-1."""


def click_ratio(wav: Wave, border_samples: Iterable[int]) -> float:
    """Largest |second difference| at chunk borders over the largest inside chunks: a click is above 1.

    `border_samples` holds the index of the first sample of every chunk but the first; both second differences
    that straddle a border count as border. 0 where there is no border or no sound.
    """
    bend = np.abs(np.diff(wav.astype(np.float64), 2))  # bend[i] is centred on sample i + 1
    borders = np.asarray(list(border_samples), dtype=np.int64)
    at_border = np.zeros(len(bend), dtype=bool)
    straddling = np.concatenate([borders - 2, borders - 1])
    at_border[straddling[(straddling >= 0) & (straddling < len(bend))]] = True
    inside = float(bend[~at_border].max(initial=0.0))
    border = float(bend[at_border].max(initial=0.0))
    return border / inside if inside else 0.0


def peak(wav: Wave) -> float:
    """Largest absolute sample; 1 or more clips."""
    return float(np.abs(wav).max(initial=0.0))


def clipped_samples(wav: Wave) -> int:
    """Samples at or beyond full scale of 16-bit PCM."""
    return int(np.count_nonzero(np.abs(wav) >= 32767 / 32768))


def silences_ms(wav: Wave, rate: int, threshold_db: float = -50.0) -> tuple[float, float]:
    """Milliseconds before the first and after the last 5 ms frame within `threshold_db` of the loudest.

    Near 0 means that a first or last sound may be cut. A silent wave is all leading silence.
    """
    hop = max(1, rate // 200)
    frames = wav[: len(wav) // hop * hop].reshape(-1, hop).astype(np.float64)
    rms = np.sqrt(np.square(frames).mean(axis=1))
    loud = np.flatnonzero(rms > rms.max(initial=0.0) * 10 ** (threshold_db / 20))
    total_ms = 1000 * len(wav) / rate
    if not len(loud):
        return total_ms, 0.0
    return 1000 * hop * loud[0] / rate, total_ms - 1000 * hop * (loud[-1] + 1) / rate


def write_spectrograms(path: Path, rows: list[tuple[str, list[Wave]]], rate: int) -> None:
    """Draw a row a sentence, a column a wave (voice, then teacher), 0 Hz to half the rate, as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = max(len(waves) for _, waves in rows)
    figure, axes = pyplot.subplots(
        len(rows), columns, figsize=(7 * columns, 2.2 * len(rows)), squeeze=False, layout="constrained"
    )
    for (title, waves), line in zip(rows, axes, strict=True):
        for wav, axis in zip(waves, line, strict=False):
            axis.specgram(wav + 1e-6, NFFT=1024, Fs=rate, noverlap=768, vmin=-140, vmax=-40, cmap="magma")
            axis.set_ylim(0, rate / 2)
        line[0].set_title(title, fontsize=9, loc="left")
    figure.savefig(path, dpi=70)
    pyplot.close(figure)
