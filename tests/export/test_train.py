"""Training on a few made-up utterances: it learns, resumes, and writes what it promises."""

import csv
import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("soundfile")

from stonechat.export import dataset, losses, train  # noqa: E402
from stonechat.export.adversarial import AdversarialTrainer  # noqa: E402
from stonechat.export.pack import load_student, save_weights  # noqa: E402
from stonechat.export.plots import draw  # noqa: E402

pytestmark = pytest.mark.export


def config() -> object:
    sys.path.insert(0, str(Path(__file__).parent.parent / "data"))
    from make_tiny_voice import TINY

    return dataclasses.replace(TINY, encoder=16)


def test_it_learns_resumes_and_draws(corpus: Path, tmp_path: Path) -> None:
    settings = train.TrainConfig(batch=2, warmup=2, save_every=5, cooldown=5)
    folder = tmp_path / "run"
    train.train([corpus], train.Trainer(folder, config(), settings), 15, on_save=draw)
    again = train.train([corpus], train.Trainer(folder, config(), settings), 20)
    assert again.step == 20
    rows = list(csv.DictReader((folder / "train.csv").open()))
    assert [int(r["step"]) for r in rows] == [5, 10, 15, 20]
    assert float(rows[-1]["total"]) < float(rows[0]["total"])
    assert (folder / "losses.png").stat().st_size > 1000
    assert (folder / "spectrograms.png").stat().st_size > 1000
    student, step = load_student(folder / "checkpoint.pt")
    assert step == 20
    save_weights(student, step, tmp_path / "half.pt")
    half, _ = load_student(tmp_path / "half.pt")
    torch.testing.assert_close(half.styles.weight, student.styles.weight, atol=2e-3, rtol=2e-3)


def test_adversarial_goes_on_from_regression(corpus: Path, tmp_path: Path) -> None:
    settings = train.TrainConfig(batch=2, warmup=2, save_every=2)
    train.train([corpus], train.Trainer(tmp_path, config(), settings), 2)
    for steps in (4, 6):  # begun, and resumed
        trainer = train.train([corpus], AdversarialTrainer(tmp_path, config(), settings), steps)
    assert trainer.step == 6
    assert len(list(csv.DictReader((tmp_path / "train.csv").open()))) == 3


def test_crop_at_the_start_sees_what_the_runtime_sees(corpus: Path) -> None:
    (utterance, *_), held = dataset.split(dataset.load_corpus(corpus))
    assert [u.id for u in held] == ["00097"]
    plan = dataset.CropPlan(frames=24, context=18)
    seen = {dataset.crop(utterance, plan, np.random.default_rng(seed)) for seed in range(50)}
    assert (0, dataset.LOOKAHEAD) in seen
    assert all(start == 18 for first, start in seen if first)


def test_frame_position_counts_through_each_phoneme() -> None:
    index, position = dataset.frame_position(np.float32([2, 5]), 6)
    assert index.tolist() == [0, 0, 1, 1, 1, 1]
    np.testing.assert_allclose(position[:, 0], [0, 0.5, 0, 1 / 3, 2 / 3, 1], atol=1e-6)
    np.testing.assert_allclose(np.exp(position[:, 1]), [2, 2, 3, 3, 3, 3], rtol=1e-6)


def test_mel_filters_cover_every_band() -> None:
    for window, bands in losses.SCALES:
        matrix = losses.mel_matrix(window, bands)
        assert matrix.shape == (window // 2 + 1, bands)
        torch.testing.assert_close(matrix.sum(0), torch.ones(bands))


def test_sound_losses_are_zero_for_the_same_and_grow_with_difference() -> None:
    wave = torch.randn(2, 9600) * 0.1
    same, half, tenth = (losses.sound_losses(wave * gain, wave) for gain in (1.0, 0.5, 0.1))
    assert same["spectral"] < 1e-5
    assert half["spectral"] < tenth["spectral"]
    assert abs(same["phase"]) < 1e-4
    assert abs(half["phase"]) < 1e-3  # a gain turns no phase


def test_phase_loss_hears_a_turned_harmonic() -> None:
    time = torch.arange(9600) / 24000 * 2 * torch.pi
    first, second = torch.sin(200 * time), 0.5 * torch.sin(400 * time)
    turned = 0.5 * torch.sin(400 * time + torch.pi)
    parts = losses.sound_losses((first + turned)[None], (first + second)[None])
    assert parts["phase"] > 0.5
    assert losses.sound_losses(torch.randn(1, 9600), (first + second)[None])["phase"] == pytest.approx(
        1, abs=0.3
    )


def test_pulses_stand_where_the_teachers_source_has_them() -> None:
    """A crop from the middle, with an unvoiced gap, runs at the phase that adding up F0 from the start gives."""
    rng = np.random.default_rng(2)
    f0 = 200 + 30 * np.sin(np.arange(200) / 9) + rng.uniform(-2, 2, 200)
    f0[90:110] = 8
    frames = 200 * dataset.FEATURE_HOP // dataset.HOP
    prosody = dataset.frame_prosody(f0.astype(np.float32), np.zeros(200, np.float32), frames)
    turns = dataset.frame_turns(f0, frames)
    first, length = 40, 96
    shift = dataset.phase_shift(prosody[first : first + length], turns[first : first + length])
    hz = np.exp(prosody[first : first + length, 0].astype(float) + dataset.LOG_F0_CENTRE)
    samples = np.interp(np.arange((length - 1) * dataset.HOP + 1) / dataset.HOP, np.arange(length), hz)
    phase = np.cumsum(samples)[:: dataset.HOP] / dataset.RATE_HZ + shift
    off = (phase - turns[first : first + length] + 0.5) % 1 - 0.5
    voiced = prosody[first : first + length, 1] > 0
    inside = voiced[2:] & voiced[1:-1] & voiced[:-2]
    assert inside.any()
    assert not inside.all()
    np.testing.assert_allclose(off[1:-1][inside], 0, atol=1e-5)
    assert np.abs(np.diff(shift)[voiced[1:] & voiced[:-1]]).max() < 0.05  # jumps fall where there is no pulse
