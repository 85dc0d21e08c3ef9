"""Continuous speech into a null sink, watched: underruns, resident memory, page faults of the threads that speak.

    PYTHONMALLOC=malloc python bench/soak.py [--minutes 60] [--load N] [--warm-s 120] [--no-real-time]

Other processes keep every processor busy at ordinary priority. After a warm-up a line is printed every so often, and
at the end the verdict: no underrun (with real-time priority), resident memory flat within 1 MB, no page fault of any
thread of this process (minor and major, as getrusage counts for RUSAGE_THREAD; read from /proc/self/task). With
PYTHONMALLOC=malloc, as the service's unit has it, Python's objects live in the heap that is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import threading
import time
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

import stonechat  # noqa: E402
from busy import busy, processors  # noqa: E402
from null_sink import null_sink  # noqa: E402
from stonechat.platforms import current  # noqa: E402
from stonechat.player import Player  # noqa: E402
from stonechat.realtime import promote_caller, promoting_new_threads  # noqa: E402

LINES = (
    "前方三百米右转，进入中山路，然后沿当前道路继续行驶五公里。",
    "In three hundred meters, turn right onto Main Street, then keep straight for 5 km.",
    "今天晴，最高气温26°C，空气质量优，适合户外活动。",
    "The meeting starts at 9:30 on March 3rd, in room 204.",
    "您有3条未读消息，其中一条来自张伟：晚上七点在老地方见。",
    "Your package will arrive between 2 and 4 p.m.; the driver will call you first.",
)
FLAT_BYTES = 1_000_000


@dataclass(frozen=True)
class Reading:
    """Of one moment."""

    at_s: float
    resident_bytes: int
    faults: dict[str, int]
    """By thread, minor and major together, since each began."""
    underruns: int
    """Ring dry inside speech, and blocks that the device asked for too late."""


def read(player: Player, began_s: float) -> Reading:
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    underruns = player.stats.underruns + player.stats.late
    return Reading(time.monotonic() - began_s, resident, thread_faults(), underruns)


def thread_faults() -> dict[str, int]:
    """Page faults of every thread of this process; proc(5): minflt is field 10, majflt field 12."""
    found = {}
    names = {str(thread.native_id): thread.name for thread in threading.enumerate()}
    for task in Path("/proc/self/task").iterdir():
        name, _, rest = (task / "stat").read_text().partition("(")[2].rpartition(")")
        fields = rest.split()
        found[names.get(task.name, f"{name} {task.name}")] = int(fields[7]) + int(fields[9])
    return found


def speak(voice: stonechat.Voice, player: Player, args: argparse.Namespace) -> list[Reading]:
    """Readings, the first after the warm-up."""
    began_s = time.monotonic()
    end_s, next_s = args.warm_s + args.minutes * 60, args.warm_s
    readings: list[Reading] = []
    for line in cycle(LINES):
        for chunk in voice.inference(line, stream=True):
            player.write(chunk.samples)
        now_s = time.monotonic() - began_s
        if now_s >= next_s:
            readings.append(read(player, began_s))
            report(readings)
            next_s += args.every_s
        if now_s >= end_s:
            player.drain()
            return readings
    raise AssertionError


def report(readings: list[Reading]) -> None:
    first, last = readings[0], readings[-1]
    faults = sum(last.faults.values()) - sum(first.faults.values())
    print(
        f"{last.at_s:7.0f} s  resident {last.resident_bytes / 1e6:6.2f} MB  faults {faults:5}"
        f"  underruns {last.underruns - first.underruns}",
        flush=True,
    )


def verdict(readings: list[Reading], real_time: bool) -> bool:
    """Print what held and what did not."""
    first, last = readings[0], readings[-1]
    sizes = [reading.resident_bytes for reading in readings]
    faults = {name: n - first.faults.get(name, 0) for name, n in last.faults.items()}
    faults = {name: n for name, n in faults.items() if n}
    underruns = last.underruns - first.underruns
    rows = [
        (f"underruns: {underruns}", underruns == 0 or not real_time),
        (
            f"resident memory: within {(max(sizes) - min(sizes)) / 1e6:.2f} MB",
            max(sizes) - min(sizes) <= FLAT_BYTES,
        ),
        (f"page faults after warm-up: {faults or 0}", not faults),
    ]
    for text, held in rows:
        print(f"{'held  ' if held else 'FAILED'}  {text}")
    return all(held for _, held in rows)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--warm-s", type=float, default=120)
    options.add_argument("--every-s", type=float, default=60)
    options.add_argument(
        "--load", type=int, default=processors(), help="busy processes; default: one a processor"
    )
    options.add_argument("--voice", default="default")
    options.add_argument(
        "--no-real-time", action="store_true", help="ordinary priority: underruns are only counted"
    )
    args = options.parse_args()
    real_time = not args.no_real_time
    print("heap kept:", bool(current().keep_heap()))
    with null_sink(), busy(args.load), stonechat.load(args.voice, sessions=1, real_time=real_time) as voice:
        print("memory locked:", voice.pool.locked)
        current().keep_heap()  # again, as the service does: loading has used up what was touched ahead
        if real_time:
            promote_caller()
        with promoting_new_threads() if real_time else contextlib.nullcontext():
            player = Player(voice.facts.rate_hz, "pulse")
        with player:
            readings = speak(voice, player, args)
        return int(not verdict(readings, real_time))


if __name__ == "__main__":
    raise SystemExit(main())
