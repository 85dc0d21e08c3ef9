"""Small multi-resolution spectrogram discriminators (after Jang et al., UnivNet, 2021) and their losses."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .losses import FLOOR, magnitude

WINDOWS = (2048, 1024, 512)
CHANNELS = 16


class SpectrogramDiscriminator(nn.Module):
    """Judges the log magnitude of one window length; returns its scores and the features on the way."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window
        sizes = (
            (1, CHANNELS, (3, 9), (1, 1)),
            *((CHANNELS, CHANNELS, (3, 9), (1, 2)),) * 3,
            (CHANNELS, CHANNELS, (3, 3), (1, 1)),
        )
        self.layers = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(
                nn.Conv2d(i, o, kernel, stride, (kernel[0] // 2, kernel[1] // 2))
            )
            for i, o, kernel, stride in sizes
        )
        self.score = nn.Conv2d(CHANNELS, 1, 3, padding=1)

    def forward(self, wave: Tensor) -> tuple[Tensor, list[Tensor]]:
        """(B, L) -> scores (B, 1, frames, bands), features."""
        x = torch.log(magnitude(wave, self.window) + FLOOR)[:, None]
        features = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.1)
            features.append(x)
        return self.score(x), features


class Discriminators(nn.Module):
    """One for each window length."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(SpectrogramDiscriminator(w) for w in WINDOWS)

    def forward(self, wave: Tensor) -> list[tuple[Tensor, list[Tensor]]]:
        return [part(wave) for part in self.parts]


Judged = list[tuple[Tensor, list[Tensor]]]


def discriminator_loss(real: Judged, made: Judged) -> Tensor:
    """Least squares: real scores 1, made scores 0."""
    terms = [(1 - r).square().mean() + m.square().mean() for (r, _), (m, _) in zip(real, made, strict=True)]
    return torch.stack(terms).mean()


def generator_loss(made: Judged) -> Tensor:
    """Least squares: made scores 1."""
    return torch.stack([(1 - m).square().mean() for m, _ in made]).mean()


def feature_loss(real: Judged, made: Judged) -> Tensor:
    """L1 between the features of real and made sound, relative to the real ones' size."""
    terms = [
        F.l1_loss(m, r.detach()) / r.detach().abs().mean().clamp(min=1e-3)
        for (_, rs), (_, ms) in zip(real, made, strict=True)
        for r, m in zip(rs, ms, strict=True)
    ]
    return torch.stack(terms).mean()
