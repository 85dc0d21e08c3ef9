"""Facts of a voice, read from its `voice.json`: what it is, apart from what a caller wishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
        facts = VoiceFacts(folder=folder, styles=styles, **raw)
        faults = list(_faults(facts))
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise VoiceError(
            f"{folder / 'voice.json'} is incomplete ({error}); unpack the voice again"
        ) from error
    if faults:
        raise VoiceError(f"{folder / 'voice.json'} is damaged: {'; '.join(faults)}; unpack the voice again")
    return facts


def _faults(f: VoiceFacts) -> Iterator[str]:
    """What in the facts this version cannot speak with."""
    whole = {
        "rate_hz": (8000, 96_000),
        "hop": (60, 1024),
        "chunk_frames": (3, 3),
        "duration_unit": (1, 10_000),
    }
    for name, (low, high) in whole.items():
        if type(value := getattr(f, name)) is not int or not low <= value <= high:
            yield f"{name} is {value!r}, not a whole number from {low} to {high}"
    if f.window != 4 * f.hop:
        yield f"window is {f.window!r}, not four hops"
    if f.lookahead_frames not in (0, 3, 6):
        yield f"lookahead_frames is {f.lookahead_frames!r}, not 0, 3 or 6"
    for name, most in (("log_f0_centre", 10.0), ("top_hz", f.rate_hz / 2)):
        if type(value := getattr(f, name)) not in (int, float) or not 0 < value <= most:
            yield f"{name} is {value!r}, not a number from 0 to {most}"
    if f.styles.ndim != 2 or not f.styles.size or not np.isfinite(f.styles).all():
        yield f"styles are {f.styles.shape}, not finite numbers (speakers, width)"
    elif not f.speakers or any(type(r) is not int or not 0 <= r < len(f.styles) for r in f.speakers.values()):
        yield f"speakers name rows outside 0..{len(f.styles) - 1}"
    if {"zh", "en"} - f.defaults.keys() or set(f.defaults.values()) - f.speakers.keys():
        yield "defaults do not name a speaker for zh and for en"
