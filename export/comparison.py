"""A packed voice against its float32 form: per stage and end to end, on the same frames with the same noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from stonechat.facts import GRAPHS, VoiceFacts, read_facts
from tqdm import tqdm

from .listening import Clause, Frames, Runner, Speaker, clauses, read_texts, snr_db

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Comparison:
    """Means over clauses, and the SNR of each clause's sound."""

    stages_db: dict[str, float]
    """SNR of each graph's output, made from the reference's inputs."""
    sound_db: list[float]
    """SNR of each clause's sound, the packed graphs feeding each other; durations and F0 are the reference's."""
    duration_percent: float
    """Mean deviation of durations."""
    f0_cents: float
    """Mean deviation of F0 where voiced."""

    @property
    def mean_db(self) -> float:
        return float(np.mean(self.sound_db))


def load_models(folder: Path) -> dict[str, onnx.ModelProto]:
    """The four graphs of a voice pack."""
    return {name: onnx.load(folder / f"{name}.onnx") for name in GRAPHS}


def spread(found: Sequence[Clause], count: int) -> list[Clause]:
    """`count` of them, evenly spread, so that both languages are there."""
    picked = np.linspace(0, len(found) - 1, min(count, len(found))).round().astype(int)
    return [found[i] for i in picked]


class Listener:
    """The reference, its sound of some clauses, and the score of any graphs in its graphs' place."""

    def __init__(
        self, facts: VoiceFacts, models: Mapping[str, onnx.ModelProto], said: Sequence[Clause]
    ) -> None:
        self.facts = facts
        self.runners = {name: Runner(model) for name, model in models.items()}
        self.reference = Speaker(facts, self.runners)
        self.frames = [self.reference.lay(clause) for clause in said]
        self.sounds = [self.reference.sound(frames) for frames in self.frames]

    def speaker(self, changed: Mapping[str, onnx.ModelProto]) -> Speaker:
        return Speaker(self.facts, {**self.runners, **changed})

    def score(self, changed: Mapping[str, onnx.ModelProto]) -> float:
        """Mean SNR in dB of the sound made with these graphs in place of the reference's."""
        other = self.speaker(changed)
        pairs = zip(self.sounds, self.frames, strict=True)
        return float(np.mean([snr_db(sound, other.sound(frames)) for sound, frames in pairs]))

    def compare(self, packed: Mapping[str, onnx.ModelProto]) -> Comparison:
        """Every stage, and the whole."""
        other, stages = self.speaker(packed), []
        sound_db, durations, cents = [], [], []
        for frames, sound in zip(
            tqdm(self.frames, unit="clause", desc="comparing"), self.sounds, strict=True
        ):
            parts, off, pitch = self._stages(other, frames)
            stages.append(parts)
            durations.append(off)
            cents.append(pitch)
            sound_db.append(snr_db(sound, other.sound(frames)))
        means = {name: float(np.mean([s[name] for s in stages])) for name in GRAPHS}
        return Comparison(means, sound_db, float(np.mean(durations)), float(np.nanmean(cents)))

    def _stages(self, other: Speaker, frames: Frames) -> tuple[dict[str, float], float, float]:
        """SNR by graph, deviation of durations in percent, of F0 in cents."""
        ours = self.reference
        hidden, log_durations = ours.encode(frames.clause)
        hidden2, log_durations2 = other.encode(frames.clause)
        pitch = other.pitch(hidden[frames.phoneme], frames.position)
        features = ours.features(frames, hidden)
        db = {
            "encoder": snr_db(hidden, hidden2),
            "pitch": snr_db(frames.prosody[:, ::2], pitch[:, ::2]),
            "acoustic": snr_db(features, other.features(frames, hidden)),
            "vocoder": snr_db(ours.spectrum(frames, features), other.spectrum(frames, features)),
        }
        voiced = frames.prosody[:, 1] > 0
        off = 100 * float(np.abs(np.expm1(log_durations2 - log_durations)).mean())
        semitones = np.abs(pitch[voiced, 0] - frames.prosody[voiced, 0]) * 12 / np.log(2)
        return db, off, 100 * float(semitones.mean()) if voiced.any() else np.nan


def compare_packs(reference: Path, packed: Path, source: Path, count: int = 200) -> Comparison:
    """Two voice packs on clauses of a corpus or of a text file."""
    facts = read_facts(reference)
    said = spread(list(clauses(read_texts(source), facts)), count)
    return Listener(facts, load_models(reference), said).compare(load_models(packed))
