"""Speaks clauses with any set of a voice's graphs in the numpy engine, so that two forms of a voice can be compared.

Durations and prosody are decided once, by the reference's graphs; every other form speaks exactly those frames with
the same noise, so that samples line up and a signal-to-noise ratio means something.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from stonechat.engine import Program, load_graph
from stonechat.errors import OptionError
from stonechat.facts import VoiceFacts
from stonechat.synthesis import ROWS, Synthesiser, layout
from stonechat.text import Frontend

from .dataset import frame_position

Floats = NDArray[np.float32]
Outputs = dict[str, Floats]
BLOCK = 75
MAX_PHONEMES = 512


@dataclass(frozen=True)
class Clause:
    """What a voice is asked to say: phoneme ids (N,) and the row of its style."""

    ids: NDArray[np.int64]
    speaker: int


@dataclass(frozen=True)
class Frames:
    """A clause laid on frames by the reference: T of them, a multiple of three."""

    clause: Clause
    phoneme: NDArray[np.int64]
    """(T,) index into the clause's phonemes."""
    position: Floats
    """(T, 2)."""
    prosody: Floats
    """(T, 3): centred log F0, voicing 0 or 1, energy."""


def read_texts(source: Path) -> list[str]:
    """Sentences of a corpus folder, or the lines of a text file. OptionError where there are none."""
    file = source / "corpus.jsonl" if source.is_dir() else source
    try:
        lines = [line for line in file.read_text("utf8").splitlines() if line.strip()]
        found = [json.loads(line)["text"] for line in lines] if source.is_dir() else lines
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(
            f"{file} has no sentences to read ({error}): give a corpus or a text file"
        ) from error
    if not found:
        raise OptionError(f"{file} is empty: give a corpus, or a text file with a sentence a line")
    return found


def clauses(texts: Sequence[str], facts: VoiceFacts, frontend: Frontend | None = None) -> Iterator[Clause]:
    """Each text's clauses, as the frontend reads them, in the voice of its language."""
    frontend = frontend or Frontend.load()
    for text in texts:
        speaker = facts.speaker(None, frontend.language(text))
        for clause in frontend.clauses(text):
            if 2 < len(clause.ids) <= MAX_PHONEMES:
                yield Clause(np.asarray(clause.ids, np.int64), speaker)


class Runner:
    """One graph, placed once; `run` feeds it a whole clause in blocks, from a fresh state."""

    def __init__(self, model: onnx.ModelProto | Path) -> None:
        source = model if isinstance(model, Path) else model.SerializeToString()
        graph = load_graph(source)
        names = {d for v in graph.inputs for d in v.shape if isinstance(d, str)}
        self.framed = names == {"T"}
        self.program = Program(graph, {"T": BLOCK} if self.framed else dict.fromkeys(names, MAX_PHONEMES))
        p = self.program
        p.place(np.zeros(p.weight_bytes + 64, np.uint8), np.zeros(p.arena_bytes + 64, np.uint8))
        self.state = np.zeros(p.state_bytes, np.uint8)
        self.last: Outputs = {}
        """What the last run made."""

    def run(self, feeds: Mapping[str, NDArray[np.generic]], block: int = BLOCK) -> Outputs:
        """Outputs of a graph of frames or of phonemes; axis 1 of its inputs is time, but for the style."""
        if not self.framed:
            length = {
                d: feeds[v.name].shape[i]
                for v in self.program.inputs
                for i, d in enumerate(v.shape)
                if isinstance(d, str)
            }
            bound = self.program.bind(length, self.state)
            for name, value in feeds.items():
                bound.inputs[name][...] = value
            bound.run()
            self.last = {name: value.copy() for name, value in bound.outputs.items()}
            return self.last
        self.state.fill(0)
        total = next(x.shape[1] for n, x in feeds.items() if n != "style")
        pieces: dict[str, list[Floats]] = {}
        for at in range(0, total, block):
            size = min(block, total - at)
            bound = self.program.bind({"T": size}, self.state)
            for name, value in feeds.items():
                bound.inputs[name][...] = value if name == "style" else value[:, at : at + size]
            bound.run()
            for name, made in bound.outputs.items():
                pieces.setdefault(name, []).append(made.copy())
        self.last = {name: np.concatenate(parts, 1) for name, parts in pieces.items()}
        return self.last


class Speaker:
    """A set of the four graphs and the voice's facts."""

    def __init__(self, facts: VoiceFacts, graphs: Mapping[str, onnx.ModelProto | Path | Runner]) -> None:
        self.facts = facts
        self.runners = {n: g if isinstance(g, Runner) else Runner(g) for n, g in graphs.items()}
        self.arrays = {n: np.zeros(shape, dtype) for n, (shape, dtype) in layout(facts).items()}

    def style(self, clause: Clause) -> Floats:
        return self.facts.styles[clause.speaker : clause.speaker + 1]

    def encode(self, clause: Clause) -> tuple[Floats, Floats]:
        """Hidden rows (N, C) and log durations (N,)."""
        made = self.runners["encoder"].run({"ids": clause.ids[None], "style": self.style(clause)})
        return made["h"][0], made["log_duration"][0]

    def lay(self, clause: Clause) -> Frames:
        """Decide durations and prosody."""
        facts = self.facts
        hidden, log_durations = self.encode(clause)
        units = np.exp(np.minimum(log_durations, 5)) * np.float32(facts.duration_unit / facts.hop)
        ends = np.cumsum(units, dtype=np.float32)
        total = -(-int(np.ceil(ends[-1])) // 3) * 3
        phoneme, position = frame_position(ends, total)
        prosody = self.pitch(hidden[phoneme], position)
        return Frames(clause, phoneme, position, prosody)

    def pitch(self, hidden: Floats, position: Floats) -> Floats:
        """Prosody (T, 3) of frames, voicing decided."""
        lag = self.facts.lookahead_frames
        rows = np.pad(np.concatenate((hidden, position), 1), ((0, lag), (0, 0)))
        made = self.runners["pitch"].run({"frames": rows[None]})["prosody"][0, lag:].copy()
        made[:, 1] = made[:, 1] > 0
        return made

    def features(self, frames: Frames, hidden: Floats) -> Floats:
        """What the acoustic graph makes of frames: (T + lag, C)."""
        rows = np.concatenate((hidden[frames.phoneme], frames.position, frames.prosody), 1)
        padded = np.pad(rows, ((0, self.facts.lookahead_frames), (0, 0)))
        feeds = {"frames": padded[None], "style": self.style(frames.clause)}
        return self.runners["acoustic"].run(feeds)["features"][0]

    def spectrum(self, frames: Frames, features: Floats) -> Floats:
        """What the vocoder makes of features: (T + lag, 3 bins)."""
        f0 = self.lagging(frames)
        return self.runners["vocoder"].run({"features": features[None], "f0": f0[None]})["spectrum"][0]

    def lagging(self, frames: Frames) -> Floats:
        """F0 and voicing of the frame each of the vocoder's rows speaks of: (T + lag, 2)."""
        return np.pad(frames.prosody[:, :2], ((self.facts.lookahead_frames, 0), (0, 0)))

    def sound(self, frames: Frames, seed: int = 0) -> Floats:
        """Samples of a clause, from the first frame's to the last's."""
        spectrum = self.spectrum(frames, self.features(frames, self.encode(frames.clause)[0]))
        ahead = np.pad(self.lagging(frames)[2:], ((0, 2), (0, 0)))
        synthesiser = Synthesiser(self.facts, self.arrays)
        synthesiser.seed(seed)
        hop = self.facts.hop
        out = np.empty(len(spectrum) * hop, np.float32)
        for at in range(0, len(spectrum), ROWS):
            n = min(ROWS, len(spectrum) - at)
            synthesiser.run(spectrum[at : at + n], ahead[at : at + n], out[at * hop : (at + n) * hop])
        return out[self.facts.lookahead_frames * hop :]


def snr_db(reference: Floats, other: Floats) -> float:
    """Signal-to-noise ratio in dB; 200 where both are the same."""
    noise = float(np.square(other.astype(np.float64) - reference).sum())
    signal = float(np.square(reference.astype(np.float64)).sum())
    return 200.0 if noise <= signal * 1e-20 else 10 * float(np.log10(signal / noise))
