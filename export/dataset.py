"""The corpus as training sees it: utterances on the student's frame grid, and batches of fixed shape cut from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from .network import LOOKAHEAD
from .synthesis import HOP, LOG_F0_CENTRE, RATE_HZ

UNIT = 600
"""Samples in the corpus's duration unit."""
FEATURE_HOP = 300
"""Samples between the corpus's F0 and energy values."""
VOICED_HZ = 60.0
"""F0 below this is the teacher's glide into silence, not voice."""
SOURCE_LEAD = 21
"""Samples: seen over the corpus, the phase of harmonic after harmonic is flat when the source is read so much later."""
ENERGY_SCALE = 5.0
HELD_OUT = 97
"""Utterances whose id is divisible by this are for validation only."""
MAX_PHONEMES = 192
SPEAKERS = ("zf_xiaobei", "af_heart")

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Utterance:
    """One utterance of the corpus on the frame grid; frame t is centred on sample 320 t."""

    id: str
    lang: str
    speaker: int
    ids: NDArray[np.int64]
    durations: Floats  # (N,) in UNITs
    phoneme: NDArray[np.int64]  # (T,) index into ids
    position: Floats  # (T, 2): fraction passed of the phoneme, log of its frames
    prosody: Floats  # (T, 3): centred log F0 (interpolated where unvoiced), voicing 0 or 1, energy
    turns: NDArray[np.float64]  # (T,) running phase of the teacher's source, in cycles
    audio: NDArray[np.int16]


def frame_position(edges: Floats, frames: int) -> tuple[NDArray[np.int64], Floats]:
    """Phoneme index (T,) and position (T, 2) of each frame; `edges` are the phonemes' ends in frames."""
    time = np.arange(frames, dtype=np.float32)
    index = np.minimum(np.searchsorted(edges, time, side="right"), len(edges) - 1)
    starts = np.concatenate(([np.float32(0)], edges[:-1]))
    length = np.maximum(edges[index] - starts[index], 1e-3)
    fraction = np.clip((time - starts[index]) / length, 0, 1)
    return index, np.stack((fraction, np.log(length)), 1).astype(np.float32)


def frame_prosody(f0: Floats, energy: Floats, frames: int) -> Floats:
    """Resample the corpus's curves to frames; F0 is interpolated between voiced values only: (T, 3)."""
    voiced = f0 > VOICED_HZ
    sample = np.arange(frames) * HOP
    nearest = np.minimum(sample // FEATURE_HOP, len(f0) - 1)
    centres = np.arange(len(f0)) * FEATURE_HOP + FEATURE_HOP / 2
    known = np.flatnonzero(voiced) if voiced.any() else np.arange(1)
    log_f0 = np.interp(sample, centres[known], np.log(np.maximum(f0[known], VOICED_HZ))) - LOG_F0_CENTRE
    level = np.interp(sample, centres, energy) / ENERGY_SCALE
    return np.stack((log_f0, voiced[nearest], level), 1).astype(np.float32)


def frame_turns(f0: Floats, frames: int) -> NDArray[np.float64]:
    """The teacher's own phase at each frame, in cycles: it adds up F0 over its feature frames, and so can we.

    Read SOURCE_LEAD later, which takes out the delay between source and speech common to all sounds.
    """
    centres = np.arange(len(f0)) * FEATURE_HOP + FEATURE_HOP / 2
    return np.interp(np.arange(frames) * HOP + SOURCE_LEAD, centres, np.cumsum(f0 * (FEATURE_HOP / RATE_HZ)))


def phase_shift(prosody: Floats, turns: NDArray[np.float64]) -> Floats:
    """Cycles to add to the phase that `pulse_train` runs up over a crop, so that it is the teacher's: (T,).

    Only frames inside voiced stretches count (at their ends the teacher's phase slows down with its F0); the others
    take the nearest one's, so that jumps fall where there is no pulse.
    """
    f0 = np.exp(prosody[:, 0].astype(np.float64) + LOG_F0_CENTRE)
    steps = HOP * f0[:-1] + np.diff(f0) * (HOP + 1) / 2
    shift = turns - np.concatenate(([f0[0]], f0[0] + np.cumsum(steps))) / RATE_HZ
    gate = prosody[:, 1] > 0
    voiced = 1 + np.flatnonzero(gate[2:] & gate[1:-1] & gate[:-2])
    if not len(voiced):
        return np.zeros(len(turns), np.float32)
    between = (voiced[1:] + voiced[:-1]) // 2
    nearest = voiced[np.searchsorted(between, np.arange(len(turns)))]
    return np.unwrap(shift[nearest] % 1.0, period=1.0).astype(np.float32)


def _utterance(row: dict, features: dict[str, NDArray], audio: NDArray[np.int16]) -> Utterance:
    durations = features["durations"][slice(*row["dur"])].astype(np.float32)
    frames = len(audio) // HOP + 1
    index, position = frame_position(np.cumsum(durations) * np.float32(UNIT / HOP), frames)
    f0, energy = (features[k][slice(*row["frames"])].astype(np.float32) for k in ("f0", "energy"))
    return Utterance(
        row["id"],
        row["lang"],
        SPEAKERS.index(row["voice"]),
        features["ids"][slice(*row["dur"])].astype(np.int64),
        durations,
        index,
        position,
        frame_prosody(f0, energy, frames),
        frame_turns(f0.astype(np.float64), frames),
        audio,
    )


def load_corpus(folder: Path, cache: Path | None = None, limit: int | None = None) -> list[Utterance]:
    """Read every utterance. Decoded audio is kept in `cache` (one .npy), since decoding takes a minute."""
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf8").splitlines()][:limit]
    features = dict(np.load(folder / "features.npz"))
    audio = _audio(folder, rows, cache)
    ends = np.cumsum([r["samples"] for r in rows])
    return [_utterance(r, features, audio[e - r["samples"] : e]) for r, e in zip(rows, ends, strict=True)]


def _audio(folder: Path, rows: list[dict], cache: Path | None) -> NDArray[np.int16]:
    total = sum(r["samples"] for r in rows)
    if cache and cache.exists() and len(kept := np.load(cache, mmap_mode="r")) == total:
        return kept
    import soundfile

    out, at = np.empty(total, np.int16), 0
    for row in tqdm(rows, desc="decoding", unit="file"):
        wave, _ = soundfile.read(folder / "audio" / f"{row['id']}.opus", dtype="int16")
        out[at : at + row["samples"]] = wave
        at += row["samples"]
    if cache:
        cache.parent.mkdir(parents=True, exist_ok=True)
        np.save(cache, out)
    return out


def load_corpora(folders: Sequence[Path], cache: Path | None = None) -> list[Utterance]:
    """Every utterance of several corpora; decoded audio is kept in the folder `cache`, a file a corpus."""
    caches = [cache and cache / f"audio-{folder.resolve().name}.npy" for folder in folders]
    return [u for folder, kept in zip(folders, caches, strict=True) for u in load_corpus(folder, kept)]


def split(utterances: list[Utterance]) -> tuple[list[Utterance], list[Utterance]]:
    """Training and validation utterances."""
    held = [u for u in utterances if int(u.id) % HELD_OUT == 0]
    return [u for u in utterances if int(u.id) % HELD_OUT], held


@dataclass(frozen=True)
class CropPlan:
    """How a training example is cut: `context` output rows warm the state up and bear no loss."""

    frames: int = 96
    context: int = 18

    @property
    def inputs(self) -> int:
        """Frames fed to the networks: context, crop, and two more that overlap-add needs at the end (in chunks)."""
        return self.context + self.frames + CHUNK_TAIL


CHUNK_TAIL = 6


@dataclass(frozen=True)
class Batch:
    """Fixed-shape arrays of one training step; B crops, N phonemes, T input frames."""

    ids: NDArray[np.int64]  # (B, N)
    mask: Floats  # (B, N)
    log_durations: Floats  # (B, N)
    speaker: NDArray[np.int64]  # (B,)
    phoneme: NDArray[np.int64]  # (B, T), N where the frame lies outside the utterance
    position: Floats  # (B, T, 2)
    prosody: Floats  # (B, T + LOOKAHEAD, 3), of the frames [first - LOOKAHEAD, first + T)
    turns: Floats  # (B, T) cycles to add to the running phase of the first T rows of prosody
    start: NDArray[np.int64]  # (B,) output row where the loss begins
    audio: Floats  # (B, frames * HOP) target of the loss


def take_padded(array: NDArray, first: int, length: int, fill: float = 0) -> NDArray:
    """Rows [first, first + length) with `fill` outside the array."""
    out = np.full((length, *array.shape[1:]), fill, array.dtype)
    low, high = max(first, 0), min(first + length, len(array))
    if high > low:
        out[low - first : high - first] = array[low:high]
    return out


def crop(u: Utterance, plan: CropPlan, rng: np.random.Generator) -> tuple[int, int]:
    """First input frame and first output row with loss. Row j of an output speaks of frame first + j - LOOKAHEAD.

    A crop at the utterance's start sees just what the runtime sees: zero state LOOKAHEAD frames before sound.
    """
    last = max(len(u.phoneme) - plan.frames, 0)
    begin = int(rng.integers(-plan.frames // 3, last + 1)) if last else 0
    if begin <= 0:
        return 0, LOOKAHEAD
    return begin + LOOKAHEAD - plan.context, plan.context


def make_batch(chosen: list[Utterance], plan: CropPlan, rng: np.random.Generator) -> Batch:
    """Cut one crop from each utterance."""
    longest = max(len(u.ids) for u in chosen)
    width = -(-longest // 64) * 64
    items = [_item(u, plan, width, rng) for u in chosen]
    return Batch(*(np.stack(column) for column in zip(*items, strict=True)))


def _item(u: Utterance, plan: CropPlan, width: int, rng: np.random.Generator) -> tuple:
    first, start = crop(u, plan, rng)
    frame = first + start - LOOKAHEAD
    prosody = take_padded(u.prosody, first - LOOKAHEAD, plan.inputs + LOOKAHEAD)
    turns = take_padded(u.turns, first - LOOKAHEAD, plan.inputs)
    return (
        take_padded(u.ids, 0, width),
        take_padded(np.ones(len(u.ids), np.float32), 0, width),
        take_padded(np.log(np.maximum(u.durations, 0.5)), 0, width),
        np.int64(u.speaker),
        take_padded(u.phoneme, first, plan.inputs, width),
        take_padded(u.position, first, plan.inputs),
        prosody,
        phase_shift(prosody[: plan.inputs], turns),
        np.int64(start),
        take_padded(u.audio, frame * HOP, plan.frames * HOP).astype(np.float32) / 32768,
    )


ENGLISH_SHARE = 2.5
"""Factor on English utterances: the smaller part of the corpus, and the slower one to learn."""


class Sampler:
    """Draws utterances by length, with a floor so that one-word prompts get their share, and English more often."""

    def __init__(self, utterances: list[Utterance], seed: int, floor_frames: int = 300) -> None:
        self.utterances = utterances
        weight = np.array([max(len(u.phoneme), floor_frames) for u in utterances], float)
        weight *= [ENGLISH_SHARE if u.lang == "en" else 1.0 for u in utterances]
        self.weight = weight / weight.sum()
        self.rng = np.random.default_rng(seed)

    def batch(self, size: int, plan: CropPlan) -> Batch:
        chosen = self.rng.choice(len(self.utterances), size, p=self.weight)
        return make_batch([self.utterances[i] for i in chosen], plan, self.rng)
