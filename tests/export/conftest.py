"""What several tests of the export pipeline share."""

import json
from pathlib import Path

import numpy as np
import pytest

UNITS = 60


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three utterances of a buzz, in the corpus's format; id 97 is held out."""
    from stonechat.export.dataset import SPEAKERS

    soundfile = pytest.importorskip("soundfile")
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "audio").mkdir()
    rows, samples = [], UNITS * 600
    for i, name in enumerate(("00001", "00002", "00097")):
        wave = 0.1 * np.sign(np.sin(np.arange(samples) * 2 * np.pi * 200 / 24000))
        soundfile.write(folder / "audio" / f"{name}.opus", wave, 24000, format="OGG", subtype="OPUS")
        voice = SPEAKERS[i % 2]
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
