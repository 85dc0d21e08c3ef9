"""`stonechat warmup`: everything a first start has to do, done before it matters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .cache import folder, kept_file
from .facts import GRAPHS, find_voice, read_facts
from .measure import start_to_sound_s
from .voice import load


@dataclass(frozen=True)
class Warmth:
    """What a warm-up left behind."""

    folder: Path | None
    """Where compiled graphs are kept; None where nowhere."""
    kept_bytes: int
    """Of this voice, all graphs."""
    start_s: float
    """From the start of a process to its first sound, afterwards."""


def warm_up(model: str = "default") -> Warmth:
    """Compile the voice's graphs and keep them, speak a silent sentence, read every page that speaking reads.

    What was kept before and is damaged, or of another voice, version or processor, is made anew.
    """
    load(model, sessions=1, keep=True, lock=False).close()
    return Warmth(folder(), kept_bytes(model), start_to_sound_s(model))


def kept_bytes(model: str) -> int:
    """Bytes of the voice's compiled graphs; 0 unless all are there."""
    facts = read_facts(find_voice(model))
    files = [kept_file(facts.graph(graph)) for graph in GRAPHS]
    try:
        return sum(file.stat().st_size for file in files if file)
    except OSError:
        return 0
