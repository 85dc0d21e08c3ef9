"""How well does it speak? Judges the bench's sentences, from the voice itself or from ready WAVs.

    python bench/quality.py                                       # speak with the default voice, then judge
    python bench/quality.py --wavs DIR --teacher TEACHER_DIR      # judge DIR/index.json's files
    python bench/quality.py --write-wavs DIR                      # keep what the voice spoke

A folder of WAVs holds `index.json`: [{"file", "text", "lang", "voice"}, ...] with lang zh, en or mix. Prints
a row a sentence and a table a language; writes a JSON report and beside it a PNG of the spectrograms.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: the judges are meant to leave cores alone
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import judges
import soundfile
from sentences import SENTENCES
from sound_metrics import Wave, click_ratio, clipped_samples, peak, silences_ms, write_spectrograms

CHUNK_MS = 40
"""Chunk of a stream: where clicks are looked for."""


@dataclass(frozen=True)
class Spoken:
    """One sentence as it was spoken."""

    text: str
    lang: str
    voice: str
    wav: Wave
    rate: int


@dataclass(frozen=True)
class Verdict:
    """What the judges say of one sentence."""

    text: str
    lang: str
    voice: str
    heard: str
    edits: int
    length: int
    """Syllables (zh, mix) or words (en) of the reference."""
    dnsmos: float
    similarity: float | None
    """Cosine of GE2E embeddings with the teacher saying the same; None without a teacher."""
    seconds: float
    peak: float
    clipped_samples: int
    click_ratio: float
    leading_ms: float
    trailing_ms: float


def read_folder(folder: Path) -> list[Spoken]:
    """The WAVs that `folder`/index.json lists."""
    rows = json.loads((folder / "index.json").read_text("utf-8"))
    return [_read(folder / row["file"], row) for row in rows]


def _read(path: Path, row: dict[str, str]) -> Spoken:
    wav, rate = soundfile.read(path, dtype="float32")
    return Spoken(row["text"], row["lang"], row["voice"], wav, rate)


def speak(voice_name: str) -> Iterator[Spoken]:
    """The bench's sentences in an installed voice or a voice folder."""
    import stonechat

    voice = stonechat.load(voice_name)
    for sentence in SENTENCES:
        wav, rate = voice.inference(sentence.text)
        yield Spoken(sentence.text, sentence.lang, voice_name, wav, rate)


def write_folder(folder: Path, spoken: list[Spoken]) -> None:
    """Keep what was spoken, in the form that `read_folder` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for number, one in enumerate(spoken):
        soundfile.write(folder / f"{number:02d}.wav", one.wav, one.rate, subtype="FLOAT")
        index.append({"file": f"{number:02d}.wav", "text": one.text, "lang": one.lang, "voice": one.voice})
    (folder / "index.json").write_text(json.dumps(index, ensure_ascii=False, indent=1), "utf-8")


def judge(one: Spoken, teacher: Spoken | None) -> Verdict:
    """Hear, rate and compare one sentence."""
    heard = judges.transcribe(one.wav, one.rate, one.lang)
    count_errors = judges.en_word_error if one.lang == "en" else judges.zh_syllable_error
    errors = count_errors(one.text, heard)
    similarity = None
    if teacher is not None:
        similarity = judges.similarity(judges.ge2e(one.wav, one.rate), judges.ge2e(teacher.wav, teacher.rate))
    chunk = one.rate * CHUNK_MS // 1000
    leading_ms, trailing_ms = silences_ms(one.wav, one.rate)
    return Verdict(
        text=one.text,
        lang=one.lang,
        voice=one.voice,
        heard=heard,
        edits=errors.edits,
        length=errors.length,
        dnsmos=judges.dnsmos(one.wav, one.rate),
        similarity=similarity,
        seconds=len(one.wav) / one.rate,
        peak=peak(one.wav),
        clipped_samples=clipped_samples(one.wav),
        click_ratio=click_ratio(one.wav, range(chunk, len(one.wav), chunk)),
        leading_ms=leading_ms,
        trailing_ms=trailing_ms,
    )


def summarise(verdicts: list[Verdict]) -> dict[str, dict[str, float | None]]:
    """A row of figures for each language, and one for Chinese and English together (`all`)."""
    groups = {lang: [verdict for verdict in verdicts if verdict.lang == lang] for lang in ("zh", "en", "mix")}
    groups["all"] = groups["zh"] + groups["en"]
    return {lang: _figures(group) for lang, group in groups.items() if group}


def _figures(group: list[Verdict]) -> dict[str, float | None]:
    similarities = [verdict.similarity for verdict in group if verdict.similarity is not None]
    return {
        "sentences": len(group),
        "error": sum(verdict.edits for verdict in group) / sum(verdict.length for verdict in group),
        "dnsmos": fmean(verdict.dnsmos for verdict in group),
        "similarity": fmean(similarities) if similarities else None,
        "peak": max(verdict.peak for verdict in group),
        "clipped_samples": sum(verdict.clipped_samples for verdict in group),
        "click_ratio": max(verdict.click_ratio for verdict in group),
        "least_leading_ms": min(verdict.leading_ms for verdict in group),
        "least_trailing_ms": min(verdict.trailing_ms for verdict in group),
        "seconds": sum(verdict.seconds for verdict in group),
    }


def print_verdict(number: int, verdict: Verdict) -> None:
    """One line a sentence; what was heard only where it differs."""
    similarity = "    -" if verdict.similarity is None else f"{verdict.similarity:5.3f}"
    heard = f"  <- {verdict.heard}" if verdict.edits else ""
    print(
        f"{number:02d} {verdict.lang:3} {verdict.edits:2}/{verdict.length:<2} mos {verdict.dnsmos:4.2f} "
        f"sim {similarity} peak {verdict.peak:4.2f} click {verdict.click_ratio:4.2f} {verdict.text}{heard}",
        flush=True,
    )


def print_summary(summary: dict[str, dict[str, float | None]]) -> None:
    """A column a figure, a row a language."""
    names = list(next(iter(summary.values())))
    print("\n" + "lang " + " ".join(f"{name:>{max(9, len(name))}}" for name in names))
    for lang, figures in summary.items():
        cells = []
        for name in names:
            value = figures[name]
            shown = "-" if value is None else f"{value:.2%}" if name == "error" else f"{round(value, 3):g}"
            cells.append(f"{shown:>{max(9, len(name))}}")
        print(f"{lang:4} " + " ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--voice", default="default", help="voice name or folder to speak with")
    parser.add_argument("--wavs", type=Path, help="judge the WAVs of this folder instead of speaking")
    parser.add_argument("--write-wavs", type=Path, help="keep what the voice spoke in this folder")
    parser.add_argument("--teacher", type=Path, help="folder of the teacher saying the same, for similarity")
    parser.add_argument(
        "--out", type=Path, default=Path("quality.json"), help="JSON report; a PNG goes beside it"
    )
    options = parser.parse_args()

    warnings.simplefilter("ignore")  # of the judges' own libraries
    started = time.perf_counter()
    spoken = read_folder(options.wavs) if options.wavs else list(speak(options.voice))
    if options.write_wavs:
        write_folder(options.write_wavs, spoken)
    teacher = {one.text: one for one in read_folder(options.teacher)} if options.teacher else {}
    verdicts = []
    for number, one in enumerate(spoken):
        verdicts.append(judge(one, teacher.get(one.text)))
        print_verdict(number, verdicts[-1])
    summary = summarise(verdicts)
    print_summary(summary)
    report = {"summary": summary, "sentences": [asdict(verdict) for verdict in verdicts]}
    options.out.write_text(json.dumps(report, ensure_ascii=False, indent=1), "utf-8")
    _draw(options.out.with_suffix(".png"), spoken, teacher)
    print(f"\n{time.perf_counter() - started:.0f} s; report {options.out}, {options.out.with_suffix('.png')}")


def _draw(path: Path, spoken: list[Spoken], teacher: dict[str, Spoken]) -> None:
    """Every fourth sentence, the teacher's to the right where there is one."""
    rows = [
        (f"{number:02d} {one.lang}", [one.wav, *([teacher[one.text].wav] if one.text in teacher else [])])
        for number, one in enumerate(spoken)
        if number % 4 == 0
    ]
    write_spectrograms(path, rows, spoken[0].rate)


if __name__ == "__main__":
    main()
