"""Figures of the text frontend: cost, load, memory, accuracy, and how it compares with its peers.

    python bench/text.py [--quick] [--cases FOLDER]

Memory and load are measured in fresh processes. Accuracy needs the PyPI packages hsk-sentences-audio (pinyin; its
lexical tones are compared before sandhi, and it has errors of its own) and misaki (English lexicon; held-out words,
on which the letter-to-sound model is trained anew: minutes, left out with --quick). Peers are measured where they are
installed: hibari-tts (English), pypinyin with jieba (Chinese). What is missing is said and skipped.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from stonechat.text import Frontend
from text_accuracy import Row, cases, english, held_out, mandarin
from text_inputs import SENTENCES, slow_texts

ROOT = Path(__file__).parent.parent
ROUNDS = 30
OURS = ("from stonechat.text import Frontend; frontend = Frontend.load()", "list(frontend.clauses(text))")
HIBARI = ("from hibari.g2p import G2P; g2p = G2P()", "g2p(text)")
LOAD = """
import sys, time
began = time.perf_counter()
{}
loaded = time.perf_counter()
for text in sys.stdin:
    {}
print((loaded - began) * 1e3, (time.perf_counter() - loaded) * 1e3)
"""
MEMORY = """
import re, sys
def resident(wanted=""):
    file = open("/proc/self/smaps").read()
    maps = re.findall(r"^[0-9a-f]+-[0-9a-f]+ .*\\n(?:\\w+:.*\\n)+", file, re.M)
    return sum(int(re.search(r"^Rss: +(\\d+)", m, re.M)[1]) for m in maps if wanted in m.split("\\n")[0]) / 1024
before = resident()
{}
for text in sys.stdin:
    {}
print(resident() - before, resident(".lex"))
"""


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="do not train on the held-out split")
    parser.add_argument(
        "--cases", type=Path, default=ROOT.parent / "shared" / "cases", help="*.jsonl of cases"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    frontend = Frontend.load()
    parts: list[Callable[[], Iterator[Row]]] = [
        lambda: cost(frontend),
        lambda: slow(frontend),
        load,
        memory,
        lambda: peers(frontend),
        lambda: cases(frontend, options.cases),
        lambda: cases(frontend, ROOT / "tests" / "text" / "cases"),
        lambda: mandarin(frontend),
        english,
    ]
    if not options.quick:
        parts.append(held_out)
    for part in parts:
        for row in part():
            print(row, flush=True)


def milliseconds(speak: Callable[[str], object], text: str, rounds: int = ROUNDS) -> float:
    """Median of `rounds` calls, warm."""
    times = []
    speak(text)
    for _ in range(rounds):
        began = time.perf_counter()
        speak(text)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e3


def cost(frontend: Frontend) -> Iterator[Row]:
    """A sentence of about 20 characters: the mean over the sentences of a kind, and the slowest."""
    for kind, texts in SENTENCES.items():
        found = [milliseconds(lambda text: list(frontend.clauses(text)), text) for text in texts]
        yield Row(f"20-character sentence, {kind}: mean", statistics.mean(found), "ms", 1)
        yield Row(f"20-character sentence, {kind}: slowest", max(found), "ms", 1)


def slow(frontend: Frontend) -> Iterator[Row]:
    """10,000 characters of what might take long."""
    found = {}
    for name, text in slow_texts().items():
        found[name] = milliseconds(lambda text: list(frontend.clauses(text)), text, rounds=3) / 1e3
    worst = sorted(found, key=lambda name: -found[name])[:5]
    for name in worst:
        yield Row(f"10,000 characters: {name}", found[name], "s", 0.5)


def load() -> Iterator[Row]:
    """Import and load, then the first two sentences, in fresh processes."""
    first = "前方300米右转。\nTurn left in 3 km.\n"
    runs = [_fresh(LOAD.format(*OURS), first) for _ in range(9)]
    yield Row("import and load, best of 9", min(run[0] for run in runs), "ms", 60)
    yield Row("first two sentences after it, best of 9", min(run[1] for run in runs), "ms")


def memory() -> Iterator[Row]:
    """What a process grows by that imports the frontend and reads every sentence here, mapped files counted."""
    texts = [text for kind in SENTENCES.values() for text in kind]
    for path in sorted((ROOT / "tests" / "text" / "cases").glob("*.jsonl")):
        texts += [
            json.loads(line)["text"].replace("\n", " ")[:500] for line in path.read_text("utf-8").splitlines()
        ]
    grown, mapped = _fresh(MEMORY.format(*OURS), "\n".join(texts))
    yield Row("resident, both languages", grown, "MB", 12)
    yield Row("of that, lexicon files", mapped, "MB")


def _fresh(program: str, text: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        input=text.encode("utf-8", "replace"),
        stdout=subprocess.PIPE,
        check=True,
    )
    return [float(figure) for figure in done.stdout.split()]


def peers(frontend: Frontend) -> Iterator[Row]:
    """Time of a peer's G2P over ours, on the same sentences."""

    def ratio(kind: str, peer: Callable[[str], object]) -> float:
        ours = sum(milliseconds(lambda text: list(frontend.clauses(text)), text) for text in SENTENCES[kind])
        return sum(milliseconds(peer, text) for text in SENTENCES[kind]) / ours

    if find_spec("hibari"):
        from hibari.g2p import G2P

        words = "\n".join(SENTENCES["en"])
        yield Row("hibari-tts, en: its time over ours", ratio("en", G2P()), "x")
        yield Row(
            "hibari-tts, en: import and load", min(_fresh(LOAD.format(*HIBARI), "")[0] for _ in "123"), "ms"
        )
        yield Row("hibari-tts, en: resident", _fresh(MEMORY.format(*HIBARI), words)[0], "MB")
    else:
        print("hibari-tts is not installed: no comparison in English")
    if find_spec("pypinyin") and find_spec("jieba"):
        import jieba
        from pypinyin import Style, lazy_pinyin

        jieba.setLogLevel(60)
        peer_time = ratio(
            "zh", lambda text: lazy_pinyin(jieba.lcut(text), style=Style.TONE3, tone_sandhi=True)
        )
        yield Row("jieba + pypinyin, zh: its time over ours", peer_time, "x")
    else:
        print("jieba and pypinyin are not installed: no comparison in Chinese")


if __name__ == "__main__":
    main()
