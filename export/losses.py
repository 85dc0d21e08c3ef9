"""Spectral and phase losses on waveforms, at three window lengths (after Yamamoto et al., 2020; Kong et al., 2020)."""

from __future__ import annotations

import functools

import torch
import torch.nn.functional as F
from torch import Tensor

from .synthesis import RATE_HZ

SCALES = ((2048, 100), (1024, 80), (512, 40))
"""(window in samples, mel bands); the hop is a quarter of the window."""
FLOOR = 1e-2
"""Added to magnitudes before the logarithm: about 70 dB under full scale, so silence costs little."""
PHASE_FLOOR = 0.3
"""Bins below this magnitude are breath, whose phase is chance."""
QUIET = 1e4
"""Energy of a spectrogram below which a crop is mostly silence, and counts less."""
PHASE_TOP_HZ = 3000
"""Above it the phase stays chance even when trained, and is not heard."""


@functools.cache
def mel_matrix(window: int, bands: int) -> Tensor:
    """Triangular mel filters over the full band, each of unit sum: (window // 2 + 1, bands)."""
    hz = torch.linspace(0, RATE_HZ / 2, window // 2 + 1)
    top = 2595 * torch.log10(torch.tensor(1 + RATE_HZ / 2 / 700))
    edges = 700 * (10 ** (torch.linspace(0, float(top), bands + 2) / 2595) - 1)
    # A narrow low band still covers its nearest bin.
    width = torch.clamp(edges.diff(), min=RATE_HZ / window)
    rise = (hz[:, None] - (edges[1:-1] - width[:-1])) / width[:-1]
    fall = ((edges[1:-1] + width[1:]) - hz[:, None]) / width[1:]
    filters = torch.clamp(torch.minimum(rise, fall), min=0)
    return filters / filters.sum(0)


def short_time(wave: Tensor, window: int) -> Tensor:
    """(B, L) -> complex (B, frames, bins), at a hop of a quarter of the window."""
    return torch.fft.rfft(wave.unfold(1, window, window // 4) * torch.hann_window(window))


def absolute(spectra: Tensor) -> Tensor:
    """Magnitude, safe to differentiate at zero."""
    return torch.sqrt(torch.view_as_real(spectra).square().sum(-1) + 1e-7)


def magnitude(wave: Tensor, window: int) -> Tensor:
    """(B, L) -> (B, frames, bins)."""
    return absolute(short_time(wave, window))


def magnitude_loss(a: Tensor, b: Tensor, mel: Tensor) -> Tensor:
    """Log-magnitude L1, spectral convergence and log-mel L1 of made `a` against `b`, both (B, frames, bins)."""
    log = F.l1_loss(torch.log(a + FLOOR), torch.log(b + FLOOR))
    convergence = torch.linalg.vector_norm(a - b) / torch.linalg.vector_norm(b)
    return log + convergence + F.l1_loss(torch.log(a @ mel + FLOOR), torch.log(b @ mel + FLOOR))


def phase_loss(made: Tensor, target: Tensor) -> Tensor:
    """Of complex spectra: 1 - cos of the phase difference, 0 when equal and 1 by chance.

    Bins count by the root of the target's magnitude. Magnitudes alone leave the phases between harmonics free, and
    with them the shape of each glottal period.
    """
    a, b = absolute(made), absolute(target)
    cosine = (torch.view_as_real(made) * torch.view_as_real(target)).sum(-1) / (a * b)
    weight = torch.sqrt(b) * (b > PHASE_FLOOR)
    return ((1 - cosine) * weight).sum() / weight.sum()


def complex_loss(made: Tensor, target: Tensor) -> Tensor:
    """Size of the difference of complex spectra, relative to the target's, mean over the batch.

    Loud low harmonics decide it, and most of all how they set in.
    """
    off, whole = (torch.view_as_real(x).square().sum((1, 2, 3)) for x in (made - target, target))
    return (torch.sqrt(off + 1.0) / torch.sqrt(whole + QUIET)).mean()


def sound_losses(made: Tensor, target: Tensor) -> dict[str, Tensor]:
    """`spectral`, `phase` and `complex`, each the mean over scales; both waves (B, L)."""
    totals = {name: torch.zeros(()) for name in ("spectral", "phase", "complex")}
    for window, bands in SCALES:
        x = short_time(made, window)
        with torch.no_grad():
            y = short_time(target, window)
        top = PHASE_TOP_HZ * window // RATE_HZ
        totals["spectral"] = totals["spectral"] + magnitude_loss(
            absolute(x), absolute(y), mel_matrix(window, bands)
        )
        totals["phase"] = totals["phase"] + phase_loss(x[..., :top], y[..., :top])
        totals["complex"] = totals["complex"] + complex_loss(x[..., :top], y[..., :top])
    return {name: total / len(SCALES) for name, total in totals.items()}
