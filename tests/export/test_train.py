"""Training on a few made-up utterances: it learns, resumes, and writes what it promises."""

import csv
import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
soundfile = pytest.importorskip("soundfile")

from stonechat.export import dataset, losses, train  # noqa: E402
from stonechat.export.adversarial import AdversarialTrainer  # noqa: E402
from stonechat.export.pack import load_student, save_weights  # noqa: E402
from stonechat.export.plots import draw  # noqa: E402

pytestmark = pytest.mark.export
UNITS = 60


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three utterances of a buzz, in the corpus's format; id 97 is held out."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "audio").mkdir()
    rows, samples = [], UNITS * 600
    for i, name in enumerate(("00001", "00002", "00097")):
        wave = 0.1 * np.sign(np.sin(np.arange(samples) * 2 * np.pi * 200 / 24000))
        soundfile.write(folder / "audio" / f"{name}.opus", wave, 24000, format="OGG", subtype="OPUS")
        voice = dataset.SPEAKERS[i % 2]
        spans = {"dur": [i * 6, i * 6 + 6], "frames": [i * UNITS * 2, (i + 1) * UNITS * 2]}
        rows.append({"id": name, "lang": "en", "voice": voice, "samples": samples, **spans})
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf8")
    np.savez(
        folder / "features.npz",
        ids=np.tile(np.int16([0, 50, 51, 52, 4, 0]), 3),
        durations=np.full(18, 10, np.int16),
        f0=np.full(UNITS * 6, 200, np.float16),
        energy=np.full(UNITS * 6, 5, np.float16),
    )
    return folder


def config() -> object:
    sys.path.insert(0, str(Path(__file__).parent.parent / "data"))
    from make_tiny_voice import TINY

    return dataclasses.replace(TINY, encoder=16)


def test_it_learns_resumes_and_draws(corpus: Path, tmp_path: Path) -> None:
    settings = train.TrainConfig(batch=2, warmup=2, save_every=5, cooldown=5)
    folder = tmp_path / "run"
    train.train(corpus, train.Trainer(folder, config(), settings), 15, on_save=draw)
    again = train.train(corpus, train.Trainer(folder, config(), settings), 20)
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
    train.train(corpus, train.Trainer(tmp_path, config(), settings), 2)
    for steps in (4, 6):  # begun, and resumed
        trainer = train.train(corpus, AdversarialTrainer(tmp_path, config(), settings), steps)
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


def test_spectral_loss_is_zero_for_the_same_and_grows_with_difference() -> None:
    wave = torch.randn(2, 9600) * 0.1
    assert losses.spectral_loss(wave, wave) < 1e-5
    assert losses.spectral_loss(wave * 0.5, wave) < losses.spectral_loss(wave * 0.1, wave)
