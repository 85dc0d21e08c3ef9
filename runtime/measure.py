"""What this machine does with a voice: how fast it speaks, and how soon it is heard."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import VoiceError

if TYPE_CHECKING:
    from .voice import Voice

SENTENCE = "前方三百米右转，进入中山路。In three hundred meters, turn right."


@dataclass(frozen=True)
class Speed:
    """Of one voice on this machine, 40 ms chunks, one BLAS thread."""

    real_time_factor: float
    """Seconds of work per second of sound."""
    first_sound_s: float
    """From the call to the first 40 ms of sound, warm."""
    sound_s: float
    """Seconds of sound that it was measured over."""


def speed(voice: Voice, text: str = SENTENCE, rounds: int = 3) -> Speed:
    """The best of a few rounds: what the machine can do when nothing else wants it."""
    taken, first, sound_s = [], [], 0.0
    for _ in range(rounds):
        began = time.perf_counter()
        chunks = voice.inference(text, stream=True)
        samples = len(next(chunks).samples)
        first.append(time.perf_counter() - began)
        samples += sum(len(chunk.samples) for chunk in chunks)
        sound_s = samples / voice.facts.rate_hz
        taken.append((time.perf_counter() - began) / sound_s)
    return Speed(min(taken), min(first), sound_s)


def start_to_sound_s(model: str, rounds: int = 2) -> float:
    """Seconds from the start of a `stonechat say` process to its first sample, the best of a few.

    Errors: VoiceError when it says nothing.
    """
    return min(_start_to_sound_s(model) for _ in range(rounds))


def _start_to_sound_s(model: str) -> float:
    command = [sys.executable, "-m", "stonechat", "say", "--model", model, "-o", "-", SENTENCE]
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    ) as child:
        assert child.stdout
        assert child.stderr
        first = child.stdout.read(2)
        taken = time.perf_counter() - began
        child.kill()
        if not first:
            last = child.stderr.read().decode(errors="replace").strip().splitlines()
            raise VoiceError(f"`stonechat say` made no sound: {last[-1] if last else 'it was killed'}")
    return taken
