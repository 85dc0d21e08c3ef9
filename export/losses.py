"""Spectral losses on whole waveforms, at three window lengths (after Yamamoto et al., 2020, and Kong et al., 2020)."""

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


def magnitude(wave: Tensor, window: int) -> Tensor:
    """(B, L) -> (B, frames, bins), safe to differentiate at zero."""
    frames = wave.unfold(1, window, window // 4) * torch.hann_window(window)
    spectra = torch.view_as_real(torch.fft.rfft(frames))
    return torch.sqrt(spectra.square().sum(-1) + 1e-7)


def spectral_loss(made: Tensor, target: Tensor) -> Tensor:
    """Mean over scales of log-magnitude L1, spectral convergence and log-mel L1; both waves (B, L)."""
    total = torch.zeros(())
    for window, bands in SCALES:
        a = magnitude(made, window)
        with torch.no_grad():
            b = magnitude(target, window)
        mel = mel_matrix(window, bands)
        log = F.l1_loss(torch.log(a + FLOOR), torch.log(b + FLOOR))
        convergence = torch.linalg.vector_norm(a - b) / torch.linalg.vector_norm(b)
        log_mel = F.l1_loss(torch.log(a @ mel + FLOOR), torch.log(b @ mel + FLOOR))
        total = total + log + convergence + log_mel
    return total / len(SCALES)
