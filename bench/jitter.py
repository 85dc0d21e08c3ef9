"""How late the threads that must not be late are, with and without what the runtime does against it.

    python bench/jitter.py [--seconds 10] [--load N] [--voice default]

A thread plays the sound card: every 10 ms it takes a block out of a ring of 200 ms that a voice fills, in this one
process, while other processes keep every processor busy. Lateness is from when it wanted to run to when it ran, with
the interpreter in hand. Each row is a process of its own:

    as it comes   ordinary priority, Python's 5 ms between turns
    quick turns   0.5 ms between turns while anybody speaks
    real time     SCHED_FIFO for the stages and the card, on the processors that this board speaks on
    both
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402
import stonechat  # noqa: E402
from busy import busy, processors  # noqa: E402
from stonechat.realtime import PLAYER_PRIORITY, promote_caller, quick_turns  # noqa: E402
from stonechat.ring import Ring, ring_nbytes  # noqa: E402

TEXT = "前方三百米右转，进入中山路，然后沿当前道路继续行驶五公里。In three hundred meters, turn right."
ROWS = {"as it comes": "", "quick turns": "quick", "real time": "real-time", "both": "quick,real-time"}
BLOCK_S = 0.01
RING_SAMPLES = 8192


class Card(threading.Thread):
    """Takes 10 ms out of the ring every 10 ms, and notes how late it was and how often there was nothing."""

    def __init__(self, ring: Ring, rate: int, seconds: float, real_time: bool) -> None:
        super().__init__(daemon=True)
        self.ring, self.real_time = ring, real_time
        self.block = np.zeros(round(rate * BLOCK_S), np.float32)
        self.late_s = np.zeros(round(seconds / BLOCK_S))
        self.underruns = 0

    def run(self) -> None:
        if self.real_time:
            promote_caller(PLAYER_PRIORITY)
        due = time.monotonic()
        for i in range(len(self.late_s)):
            due += BLOCK_S
            time.sleep(max(0.0, due - time.monotonic()))
            self.late_s[i] = time.monotonic() - due
            self.underruns += self.ring.pop(self.block) < len(self.block)
        self.ring.close()


def measure(voice_name: str, seconds: float, wishes: str) -> dict[str, float]:
    """One row, in this process."""
    if "quick" not in wishes:
        quick_turns.interval_s = 1.0  # longer than it is: left as it is
    real_time = "real-time" in wishes
    with stonechat.load(voice_name, sessions=1, real_time=real_time) as voice:
        if real_time:
            promote_caller()
        rate = voice.facts.rate_hz
        ring = Ring(
            np.zeros(ring_nbytes(np.float32, (), RING_SAMPLES), np.uint8), np.float32, (), RING_SAMPLES
        )
        card = Card(ring, rate, seconds, real_time)
        while not ring.closed:
            for chunk in voice.inference(TEXT, stream=True):
                write(ring, chunk.samples)
                if card.ident is None and ring.writable < RING_SAMPLES // 2:
                    card.start()
                if ring.closed:
                    break
    late_ms = card.late_s * 1000
    p50, p99 = np.percentile(late_ms, [50, 99])
    return {"p50": p50, "p99": p99, "max": late_ms.max(), "underruns": card.underruns}


def write(ring: Ring, samples: np.ndarray) -> None:
    """All of `samples`, as there is room."""
    done = 0
    while done < len(samples) and not ring.closed:
        done += ring.push(samples[done:])
        if done < len(samples):
            ring.wait_writable(0.5)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument(
        "--load", type=int, default=processors(), help="busy processes; default: one a processor"
    )
    options.add_argument("--voice", default="default")
    options.add_argument("--one", help=argparse.SUPPRESS)
    args = options.parse_args()
    if args.one is not None:
        print(json.dumps(measure(args.voice, args.seconds, args.one)))
        return
    print(
        f"{args.load} busy processes on {processors()} processors, {args.seconds:g} s a row; lateness in ms"
    )
    print(f"{'':14}{'p50':>8}{'p99':>8}{'max':>8}   underruns")
    with busy(args.load):
        for name, wishes in ROWS.items():
            command = [
                sys.executable,
                __file__,
                "--one",
                wishes,
                "--seconds",
                str(args.seconds),
                "--voice",
                args.voice,
            ]
            row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            print(
                f"{name:14}{row['p50']:8.2f}{row['p99']:8.2f}{row['max']:8.2f}   {row['underruns']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
