"""`stonechat doctor`: what this machine is, what may make speech stutter on it, and how fast it speaks."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path

from .doctor_system import system_findings
from .errors import StonechatError
from .findings import Finding, judged, to_json, to_text
from .measure import speed, start_to_sound_s
from .voice import Voice, load
from .warmup import kept_bytes

__all__ = ["examine", "to_json", "to_text"]

SLOW, TOO_SLOW = 0.5, 0.9
"""Real-time factors: above the first little else may run, above the second speech breaks up."""


def examine(model: str = "default", quick: bool = False, root: Path = Path("/")) -> list[Finding]:
    """Every finding, in the order a person would ask. `quick` leaves out what takes seconds to measure."""
    findings = list(system_findings(root))
    findings += sound_findings()
    findings += voice_findings(model, quick)
    return findings


def sound_findings() -> Iterator[Finding]:
    """The devices that can play, and the one this board would choose."""
    from stonechat.platforms import current

    from .player import output_devices

    remedy = "plug one in, load its driver, or start the sound server; files and pipes (-o) work without"
    try:
        devices = output_devices()
    except StonechatError as error:
        yield Finding("sound devices", "warn", "PortAudio is not there", str(error))
        return
    defaults = current().audio()
    if not devices:
        yield Finding("sound devices", "warn", "none can play", remedy)
    else:
        choice = defaults.device or "default"
        yield Finding(
            "sound devices", "ok", "\n".join([f"{choice}: {defaults.why}", *devices]), value=len(devices)
        )


def voice_findings(model: str, quick: bool) -> Iterator[Finding]:
    """The voice loads, fits, is locked in memory, and speaks in time."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a refused lock is a finding already
            voice = load(model)
    except StonechatError as error:
        yield Finding("voice", "fail", f"{model!r} cannot be loaded", str(error))
        return
    with voice:
        yield _facts(voice)
        yield _pool(voice)
        if not quick:
            yield from _speed(voice)
        yield _resident()
    yield _kept(model)
    if not quick:
        yield _start(model)


def _facts(voice: Voice) -> Finding:
    facts = voice.facts
    size = sum(file.stat().st_size for file in facts.folder.iterdir() if file.is_file())
    fact = f"{facts.name} ({', '.join(facts.speakers)}), {facts.rate_hz} Hz, {size / 1e6:.1f} MB in {facts.folder}"
    return Finding("voice", "ok", fact)


def _pool(voice: Voice) -> Finding:
    fact, remedy = voice.pool.map(), "see `lockable memory`"
    return Finding(
        "memory pool", "ok" if voice.pool.locked else "warn", fact, "" if voice.pool.locked else remedy
    )


def _speed(voice: Voice) -> Iterator[Finding]:
    found = speed(voice)
    remedy = "see `temperature`, `clock` and `processor limit`; end what else runs; use a smaller voice"
    fact = f"{found.real_time_factor:.3f} s of work per second of sound, 40 ms chunks, one BLAS thread"
    yield judged("real-time factor", found.real_time_factor, fact, SLOW, TOO_SLOW, remedy)
    fact = f"{found.first_sound_s * 1000:.0f} ms from text to the first 40 ms, warm"
    yield judged("first sound", found.first_sound_s, fact, 0.15, 0.5, remedy)


def _resident() -> Finding:
    rows: dict[str, int] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("VmRSS", "VmLck", "VmHWM"):
                rows[name] = int(value.split()[0]) * 1024
    if not rows:
        return Finding("resident memory", "ok", "not told by this system")
    fact = f"{rows['VmRSS'] / 1e6:.0f} MB now, {rows['VmHWM'] / 1e6:.0f} MB at most"
    fact += f"; {rows['VmLck'] / 1e6:.0f} MB of the mappings are locked, each page from its first use on"
    return judged(
        "resident memory", rows["VmHWM"], fact, 128e6, 512e6, "load with fewer sessions; limit BLAS threads"
    )


def _kept(model: str) -> Finding:
    kept = kept_bytes(model)
    if kept:
        return Finding(
            "compiled graphs", "ok", f"{kept / 1e6:.1f} MB are kept for the next start", value=kept
        )
    return Finding(
        "compiled graphs", "warn", "none are kept", "`stonechat warmup`: later starts are heard sooner"
    )


def _start(model: str) -> Finding:
    taken = start_to_sound_s(model)
    remedy = "`stonechat warmup`; keep a process running: `stonechat serve`"
    return judged("start of a process", taken, f"{taken:.2f} s to its first sound", 0.5, 5.0, remedy)
