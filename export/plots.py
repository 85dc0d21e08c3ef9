"""Pictures of a run: losses, and predicted beside target spectrograms."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from .dataset import Batch
from .network import Student
from .synthesis import RATE_HZ
from .train import Trainer, encode_frames, synthesise, to_tensors

SHOWN = ("spectral", "duration", "f0", "voicing", "energy")


def plot_losses(log: Path, picture: Path) -> None:
    """train.csv of a run as a PNG: training and validation, a panel a loss."""
    from matplotlib.figure import Figure

    rows = list(csv.DictReader(log.open(encoding="utf8")))
    steps = [int(r["step"]) for r in rows]
    figure = Figure((3 * len(SHOWN), 3), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(SHOWN)), SHOWN, strict=True):
        axes.plot(steps, [float(r[name]) for r in rows], label="training")
        axes.plot(steps, [float(r[f"valid_{name}"]) for r in rows], label="validation")
        axes.set(title=name, xlabel="step", yscale="log")
    figure.axes[0].legend()
    figure.savefig(picture, dpi=80)


def log_spectrogram(wave: NDArray[np.float32], window: int = 1024, hop: int = 256) -> NDArray[np.float32]:
    """(n,) -> dB (bins, frames), floor at -100 dB."""
    frames = np.lib.stride_tricks.sliding_window_view(wave, window)[::hop] * np.hanning(window)
    return np.maximum(20 * np.log10(np.abs(np.fft.rfft(frames)).T / window * 4 + 1e-9), -100).astype(
        np.float32
    )


@torch.no_grad()
def plot_spectrograms(student: Student, batch: Batch, picture: Path, count: int = 3) -> None:
    """What the student makes of the first crops of a batch (above) and what it should be (below), as a PNG."""
    from matplotlib.figure import Figure

    b = to_tensors(batch, "cpu")
    style, frames, _ = encode_frames(student, b)
    made = synthesise(student, b, style, frames)
    count = min(count, len(made))
    figure = Figure((5 * count, 6), layout="constrained")
    panels = figure.subplots(2, count, squeeze=False)
    for column in range(count):
        for row, (title, wave) in enumerate((("predicted", made), ("target", b["audio"]))):
            image = log_spectrogram(wave[column].numpy())
            extent = (0, wave.shape[1] / RATE_HZ, 0, RATE_HZ / 2000)
            panels[row][column].imshow(image, origin="lower", aspect="auto", vmin=-100, vmax=0, extent=extent)
            panels[row][column].set(title=title, xlabel="s", ylabel="kHz")
    figure.savefig(picture, dpi=70)


def draw(trainer: Trainer, batch: Batch) -> None:
    """Both pictures, into the run folder: losses.png and spectrograms.png."""
    plot_losses(trainer.folder / "train.csv", trainer.folder / "losses.png")
    plot_spectrograms(trainer.average, batch, trainer.folder / "spectrograms.png")
