"""Source and synthesis against plain float64 formulas."""

from pathlib import Path

import numpy as np
import pytest
from stonechat.facts import VoiceFacts
from stonechat.synthesis import ROWS, TINY, Synthesiser, layout, pulse_train

FACTS = VoiceFacts(
    "t", Path(), 24000, 320, 1280, 3, 6, 600, 5.4, 11000.0, {"a": 0}, {}, np.zeros((1, 4), np.float32), {}
)
BINS = 641


def synthesiser() -> Synthesiser:
    return Synthesiser(FACTS, {n: np.zeros(s, d) for n, (s, d) in layout(FACTS).items()})


def test_pulse_train_is_a_sum_of_cosines() -> None:
    theta = np.linspace(TINY, np.pi, 997).astype(np.float32)
    harmonics = np.full_like(theta, 40.25)
    out = np.empty_like(theta)
    pulse_train(theta, harmonics, np.empty((3, len(theta)), np.float32), out)
    k = np.arange(1, 41)[:, None]
    exact = np.cos(k * theta.astype(float)).sum(0) + 0.25 * np.cos(41 * theta.astype(float))
    np.testing.assert_allclose(out, exact, atol=5e-3)


def heads(frames: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    spectrum = rng.standard_normal((frames, 3 * BINS)).astype(np.float32) * 0.5
    spectrum[:, :BINS] -= 4
    spectrum[:, 2 * BINS :] -= 6
    ahead = np.stack((rng.uniform(-0.3, 0.3, frames), rng.integers(0, 2, frames)), 1).astype(np.float32)
    return spectrum, ahead


def run(blocks: list[int], spectrum: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    made, at, s = [], 0, synthesiser()
    s.seed(5)
    for n in blocks:
        out = np.empty(n * FACTS.hop, np.float32)
        s.run(spectrum[at : at + n], ahead[at : at + n], out)
        made.append(out)
        at += n
    return np.concatenate(made)


def test_blocks_do_not_matter() -> None:
    spectrum, ahead = heads(12)
    whole = run([3] * 4, spectrum, ahead)
    np.testing.assert_allclose(run([1, 2, 3, 1, 1, 1, 3], spectrum, ahead), whole, atol=1e-6)


def test_silence_of_unvoiced_without_noise() -> None:
    spectrum, ahead = heads(6)
    spectrum[:, 2 * BINS :] = -40
    ahead[:, 1] = 0
    assert np.abs(run([3, 3], spectrum, ahead)).max() < 1e-6


def test_harmonic_amplitude_is_what_the_head_says() -> None:
    """A flat envelope of amplitude a over a steady pitch gives harmonics of amplitude a."""
    frames = 60
    spectrum = np.zeros((frames, 3 * BINS), np.float32)
    spectrum[:, :BINS] = np.log(0.01)
    spectrum[:, 2 * BINS :] = -40
    ahead = np.tile(np.float32([np.log(240.0) - 5.4, 1.0]), (frames, 1))
    wave = run([ROWS] * (frames // ROWS), spectrum, ahead)[-9600:]
    power = np.abs(np.fft.rfft(wave * np.hanning(len(wave)))) / (len(wave) / 4)
    assert power[round(240 * 10 * len(wave) / 24000)] == pytest.approx(0.01, rel=0.02)


def test_noise_amplitude_is_what_the_head_says() -> None:
    frames = 60
    spectrum = np.full((frames, 3 * BINS), -40, np.float32)
    spectrum[:, BINS : 2 * BINS] = 0
    spectrum[:, 2 * BINS :] = np.log(0.1)
    wave = run([ROWS] * (frames // ROWS), spectrum, np.zeros((frames, 2), np.float32))[2000:]
    # Overlapping frames of independent noise: half of what noise common to them would have.
    assert wave.std() == pytest.approx(0.05, rel=0.03)


def test_loud_heads_stay_finite() -> None:
    spectrum = np.full((3, 3 * BINS), 500, np.float32)
    assert np.isfinite(run([3], spectrum, np.ones((3, 2), np.float32))).all()
