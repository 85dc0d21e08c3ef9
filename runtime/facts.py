"""Facts of a voice, read from its `voice.json`: what it is, apart from what a caller wishes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import VoiceError

FORMAT = 1
"""The voice pack format this version reads."""
GRAPHS = ("encoder", "pitch", "acoustic", "vocoder")
VOICES_FOLDER = Path(__file__).parent / "data" / "voices"


@dataclass(frozen=True)
class VoiceFacts:
    """Everything the stages need to know of a voice besides its graphs."""

    name: str
    folder: Path
    rate_hz: int
    """Samples a second."""
    hop: int
    """Samples a frame."""
    window: int
    """Samples of the synthesis window."""
    chunk_frames: int
    """Frames of the smallest block that every frame-level graph takes."""
    lookahead_frames: int
    """Frames by which the outputs of `pitch` and of `acoustic` lag their inputs."""
    duration_unit: int
    """Samples that exp(log_duration) counts in."""
    log_f0_centre: float
    """Added to the pitch graph's log F0 to give natural log of Hz."""
    top_hz: float
    """Harmonics reach up to here."""
    speakers: dict[str, int]
    """Speaker name to row of `styles`."""
    defaults: dict[str, str]
    """Language of a call (zh where any Chinese occurs, else en) to speaker name."""
    styles: NDArray[np.float32]
    """(speakers, S)."""
    card: dict[str, Any]
    """Licence, data, training and figures, for people."""

    def graph(self, name: str) -> Path:
        return self.folder / f"{name}.onnx"

    def speaker(self, wish: str | None, language: str) -> int:
        """Row of `styles` for a caller's wish, or for the language of the call."""
        name = wish or self.defaults["en" if language == "en" else "zh"]
        if name not in self.speakers:
            raise VoiceError(
                f"no speaker {name!r} in voice {self.name!r}; there are: {', '.join(self.speakers)}"
            )
        return self.speakers[name]


def voice_folders() -> dict[str, Path]:
    """The voices inside the package, by name."""
    return {p.parent.name: p.parent for p in sorted(VOICES_FOLDER.glob("*/voice.json"))}


def find_voice(name: str | Path) -> Path:
    """Folder of a voice given by name or by path. VoiceError lists what exists."""
    known = voice_folders()
    if str(name) in known:
        return known[str(name)]
    path = Path(name).expanduser()
    if (path / "voice.json").is_file():
        return path
    raise VoiceError(
        f"no voice {str(name)!r}: give a folder with a voice.json, or one of: {', '.join(known)}"
    )


def read_facts(folder: Path) -> VoiceFacts:
    """Read and check `voice.json`. VoiceError names what is missing, foreign or newer."""
    try:
        raw = json.loads((folder / "voice.json").read_text("utf8"))
        version = raw.pop("format")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise VoiceError(
            f"{folder / 'voice.json'} is no voice description ({error}); unpack the voice again"
        ) from error
    if version != FORMAT:
        raise VoiceError(
            f"voice pack {folder} has format {version}, this stonechat reads {FORMAT}: "
            + (
                "update stonechat"
                if isinstance(version, int) and version > FORMAT
                else "pack the voice again"
            )
        )
    missing = [g for g in GRAPHS if not (folder / f"{g}.onnx").is_file()]
    if missing:
        raise VoiceError(
            f"voice pack {folder} lacks {', '.join(f'{g}.onnx' for g in missing)}; unpack it again"
        )
    try:
        styles = np.asarray(raw.pop("styles"), np.float32)
        return VoiceFacts(folder=folder, styles=styles, **raw)
    except (TypeError, ValueError, KeyError) as error:
        raise VoiceError(
            f"{folder / 'voice.json'} is incomplete ({error}); unpack the voice again"
        ) from error
