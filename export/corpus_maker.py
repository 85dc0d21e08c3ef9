"""Make training speech: the teacher speaks a text file, in the format of the default voice's corpus.

    stonechat-export corpus --texts FILE --voice zf_xiaobei --out DIR

One utterance a line of text (a line too long for training is spoken clause by clause). Stop and restart it
as you like: what has been spoken is kept in DIR/parts. Run it again with another voice or file to extend the
corpus.

DIR then holds corpus.jsonl (a row an utterance: id, lang, voice, text, phonemes, samples at 24 kHz, and `dur`
and `frames`, its [from, to) in the arrays of features.npz), features.npz (ids and durations int16, f0 and
energy float16), audio/ID.opus and vocab.json (symbol to id).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import soundfile
from numpy.typing import NDArray
from stonechat.errors import OptionError, TextError
from stonechat.export.teacher import CACHE, FEATURE_HOP, RATE, Speech, Teacher
from tqdm import tqdm

MAX_PHONEMES = 190
"""Longest utterance, in phoneme symbols: training pads to 192 with the two ends."""
OPUS_COMPRESSION = 0.68
"""soundfile's scale; about 85 kbit/s."""
FEATURES = {"ids": np.int16, "durations": np.int16, "f0": np.float16, "energy": np.float16}
"""Arrays of features.npz: the first two have a value a symbol, the others a value every 300 samples."""


class Speaker(Protocol):
    """Whoever speaks phonemes as the teacher does."""

    @property
    def symbols(self) -> dict[str, int]: ...

    def speak(self, phonemes: str, voice: str) -> Speech: ...


class Clause(Protocol):
    """The part of the text frontend's clause that a corpus keeps."""

    @property
    def text(self) -> str: ...

    @property
    def phonemes(self) -> str: ...

    @property
    def lang(self) -> str: ...


class Frontend(Protocol):
    """Whoever turns a line of text into clauses of phonemes."""

    def clauses(self, text: str) -> Iterable[Clause]: ...


@dataclass(frozen=True)
class Line:
    """What to speak as one utterance."""

    text: str
    phonemes: str
    lang: str
    """zh, en or mix."""


def read_lines(path: Path, frontend: Frontend) -> list[Line]:
    """The utterances of a UTF-8 text file, one or more a line, each once. OptionError if there are none."""
    try:
        texts = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(
            f"cannot read the texts {path}: {error}; give a UTF-8 file, one sentence a line"
        ) from error
    lines = [line for text in dict.fromkeys(texts) if text for line in utterances(text, frontend)]
    if not lines:
        raise OptionError(f"{path} holds nothing to speak: write one sentence a line")
    return lines


def utterances(text: str, frontend: Frontend) -> Iterator[Line]:
    """The whole text as one utterance, or clause by clause where it is longer than training takes."""
    clauses = list(frontend.clauses(text))
    langs = {clause.lang for clause in clauses}
    joined = " ".join(clause.phonemes.strip() for clause in clauses)
    if clauses and len(joined) <= MAX_PHONEMES:
        yield Line(text, joined, langs.pop() if len(langs) == 1 else "mix")
        return
    for clause in clauses:
        if len(clause.phonemes) <= MAX_PHONEMES:
            yield Line(clause.text.strip(), clause.phonemes.strip(), clause.lang)


class CorpusFolder:
    """A corpus in the making: a part an utterance, joined at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts = folder / "parts"
        self.audio = folder / "audio"
        for wanted in (self.parts, self.audio):
            wanted.mkdir(parents=True, exist_ok=True)
        rows = [self._row(part) for part in sorted(self.parts.glob("*.npz"))]
        self._spoken = {(row["voice"], row["text"], row["phonemes"]) for row in rows}
        self._next = max((int(row["id"]) for row in rows), default=-1) + 1

    def holds(self, line: Line, voice: str) -> bool:
        """True if this line has been spoken in this voice."""
        return (voice, line.text, line.phonemes) in self._spoken

    def add(self, line: Line, voice: str, speech: Speech) -> None:
        """Write one utterance; its part is written last, so a part without its sound is never left behind."""
        row: dict[str, Any] = {
            "id": f"{self._next:05d}",
            "lang": line.lang,
            "voice": voice,
            "text": line.text,
        }
        row |= {"phonemes": line.phonemes, "samples": len(speech.samples)}
        soundfile.write(
            self.audio / f"{row['id']}.opus",
            np.clip(speech.samples, -1, 1),
            RATE,
            format="OGG",
            subtype="OPUS",
            compression_level=OPUS_COMPRESSION,
        )
        arrays: dict[str, Any] = {
            name: getattr(speech, name).astype(dtype) for name, dtype in FEATURES.items()
        }
        partial = self.parts / f"{row['id']}.partial"
        with partial.open("wb") as file:
            np.savez(file, row=json.dumps(row, ensure_ascii=False), **arrays)
        partial.rename(partial.with_suffix(".npz"))
        self._spoken.add((voice, line.text, line.phonemes))
        self._next += 1

    def join(self, symbols: dict[str, int]) -> int:
        """Write corpus.jsonl, features.npz and vocab.json from all parts; how many utterances they hold."""
        rows, arrays = [], {name: [np.zeros(0, dtype)] for name, dtype in FEATURES.items()}
        symbol_end = frame_end = 0
        for path in sorted(self.parts.glob("*.npz")):
            with np.load(path) as part:
                row = json.loads(str(part["row"]))
                for name, kept in arrays.items():
                    kept.append(part[name])
            symbols_from, frames_from = symbol_end, frame_end
            symbol_end += len(arrays["ids"][-1])
            frame_end += len(arrays["f0"][-1])
            rows.append(row | {"dur": [symbols_from, symbol_end], "frames": [frames_from, frame_end]})
        joined: dict[str, NDArray[Any]] = {name: np.concatenate(kept) for name, kept in arrays.items()}
        np.savez_compressed(self.folder / "features.npz", **joined)  # type: ignore[arg-type]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (self.folder / "corpus.jsonl").write_text(text, "utf-8")
        (self.folder / "vocab.json").write_text(json.dumps({"vocab": symbols}, ensure_ascii=False), "utf-8")
        return len(rows)

    @staticmethod
    def _row(part: Path) -> dict[str, Any]:
        with np.load(part) as arrays:
            row: dict[str, Any] = json.loads(str(arrays["row"]))
        return row


def make_corpus(lines: list[Line], voice: str, teacher: Speaker, folder: CorpusFolder) -> list[str]:
    """Speak what is missing and join the corpus; returns the refused texts, each with its reason."""
    refused = []
    for line in tqdm([line for line in lines if not folder.holds(line, voice)], desc=voice, unit="utterance"):
        try:
            speech = teacher.speak(line.phonemes, voice)
        except TextError as error:
            refused.append(f"{line.text}: {error}")
            continue
        if len(speech.samples) != FEATURE_HOP * len(speech.f0):
            refused.append(f"{line.text}: the durations do not sum to the sound's length")
            continue
        folder.add(line, voice, speech)
    folder.join(teacher.symbols)
    return refused


def main(argv: list[str] | None = None) -> int:
    """`stonechat-export corpus`: 0, or 1 if nothing could be spoken."""
    parser = argparse.ArgumentParser(
        prog="stonechat-export corpus",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--texts", type=Path, required=True, help="UTF-8 text file, one sentence a line")
    parser.add_argument(
        "--voice", required=True, help="one of the teacher's voices, such as zf_xiaobei or af_heart"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of the corpus; made, resumed or extended"
    )
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of the teacher")
    parser.add_argument(
        "--cache", type=Path, default=CACHE, help="where the expanded teacher is kept (some 360 MB)"
    )
    options = parser.parse_args(argv)

    from stonechat.text import Frontend

    teacher = Teacher.load(options.cache, options.threads)
    if options.voice not in teacher.voices:
        raise OptionError(f"no voice {options.voice!r}; the teacher has {', '.join(teacher.voices)}")
    lines = read_lines(options.texts, Frontend.load())
    folder = CorpusFolder(options.out)
    refused = make_corpus(lines, options.voice, teacher, folder)
    for reason in refused:
        print(f"skipped: {reason}")
    print(f"{len(lines) - len(refused)} of {len(lines)} utterances in {options.out}")
    return 0 if len(refused) < len(lines) else 1
