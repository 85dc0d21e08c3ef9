"""The doctor's look at the machine: board, limits, scheduler, libraries."""

from __future__ import annotations

import os
import platform
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from stonechat.platforms import MemoryRoom, Outcome, current

from .findings import Finding, Verdict, judged

FULL_VOICE_BYTES = 96 << 20
"""Resident memory of a speaking process, with room to spare."""
WARM_C, HOT_C = 70.0, 80.0
"""A Raspberry Pi slows down from 80 degrees on; most other boards from 85."""
PRIORITY = 10


def system_findings(root: Path = Path("/")) -> Iterator[Finding]:
    """Everything that does not need a voice."""
    yield board()
    yield from temperature()
    yield clock()
    yield libraries()
    yield blas()
    yield memlock()
    yield memory(current().memory_room())
    yield processor_share(current().processor_share())
    yield fifo()
    yield real_time_share(root)
    yield processors()


def board() -> Finding:
    facts, features = current().board(), current().features()
    fact = f"{facts.model}, {facts.cores} x {facts.cpu}, {facts.memory_bytes / 2**30:.1f} GiB"
    fact += f"; {' '.join(features) or 'no vector unit told'}; as {current().__name__.rpartition('.')[2]}"  # type: ignore[attr-defined]
    if features:
        return Finding("board", "ok", fact)
    return Finding(
        "board", "warn", fact, "on a 32-bit system install the 64-bit one: it uses the vector unit"
    )


def temperature() -> Iterator[Finding]:
    health = current().health()
    if health.temperature_c is None:
        yield Finding("temperature", "ok", "no sensor tells")
    else:
        fact = f"{health.temperature_c:.0f} degrees Celsius"
        yield judged(
            "temperature",
            health.temperature_c,
            fact,
            WARM_C,
            HOT_C,
            "cool the board: a heat sink, a fan, air",
        )
    if health.faults or health.past:
        verdict: Verdict = "fail" if health.faults else "warn"
        what = "; ".join(text.split(":")[0] for text in health.faults or health.past)
        fact = f"{what} ({'now' if health.faults else 'since it was switched on'})"
        remedy = "; ".join(text.split(": ", 1)[1] for text in health.faults or health.past)
        yield Finding("supply", verdict, fact, remedy)


def clock() -> Finding:
    governor = current().health().governor
    if governor is None:
        return Finding("clock", "ok", "its governor is not told")
    slow = governor in ("powersave", "ondemand", "conservative")
    remedy = "`echo performance > /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor`: the first sound comes sooner"
    return Finding("clock", "warn" if slow else "ok", f"governor {governor}", remedy if slow else "")


def libraries() -> Finding:
    python = f"Python {platform.python_version()} ({sys.implementation.name})"
    fact = f"{python}, numpy {np.__version__}, {platform.machine()}"
    return Finding("libraries", "ok", fact)


def blas() -> Finding:
    threads, name = current().blas_threads(), _blas_name()
    if threads is None:
        return Finding("BLAS", "ok", f"{name}; does not tell its threads")
    if threads == 1:
        return Finding("BLAS", "ok", f"{name}, 1 thread", value=1)
    remedy = "set OPENBLAS_NUM_THREADS=1: more cost locked memory and win nothing on three rows"
    return Finding("BLAS", "warn", f"{name}, {threads} threads", remedy, threads)


def _blas_name() -> str:
    try:
        facts = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        name = f"{facts['name']} {facts.get('version', '')}".strip()
    except (AttributeError, KeyError, TypeError):
        return "BLAS"
    return f"{name} without BLAS, far too slow" if name in ("none", "") else name


def memlock() -> Finding:
    try:
        import resource
    except ImportError:
        return Finding("lockable memory", "warn", "this system has no such limit", "run on Linux")
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    fact = f"soft limit {_limit(soft)}, hard limit {_limit(hard)}"
    outcome = current().lock_memory()
    if outcome and soft != resource.RLIM_INFINITY:
        fact += "; this process may lock all the same"
    return _granted("lockable memory", outcome, fact)


def _limit(value: int) -> str:
    return "none" if value < 0 or value >= 2**62 else f"{value / 2**20:.0f} MiB"


def memory(room: MemoryRoom | None) -> Finding:
    if room is None:
        return Finding("memory limit", "ok", "no control group limits this process")
    fact = f"{room.group} allows {room.limit_bytes >> 20} MiB, {room.free_bytes >> 20} MiB are left"
    if room.free_bytes >= FULL_VOICE_BYTES:
        return Finding("memory limit", "ok", fact, value=room.free_bytes)
    remedy = "raise it: docker run --memory=256m; in a systemd unit MemoryMax=256M"
    verdict: Verdict = "fail" if room.free_bytes < FULL_VOICE_BYTES // 2 else "warn"
    return Finding("memory limit", verdict, fact, remedy, room.free_bytes)


def processor_share(share: float | None) -> Finding:
    if share is None:
        return Finding("processor limit", "ok", "no control group limits this process")
    remedy = "what is used up stops until the next period: docker run --cpus=2; in a systemd unit no CPUQuota"
    fact = f"{share:g} processors' worth of time"
    return judged("processor limit", -share, fact, -0.99, -0.25, remedy)


def fifo() -> Finding:
    """Asked for in a thread of its own, so that this one stays as it was."""
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(current().schedule_fifo(PRIORITY)))
    thread.start()
    thread.join()
    return _granted("real-time scheduling", outcomes[0], f"SCHED_FIFO at {PRIORITY}")


def real_time_share(root: Path) -> Finding:
    """Real-time threads may have so much of each period; the rest is kept for everybody else."""
    try:
        runtime, period = (
            int((root / f"proc/sys/kernel/sched_rt_{name}_us").read_text()) for name in ("runtime", "period")
        )
    except (OSError, ValueError):
        return Finding("real-time share", "ok", "not told")
    if runtime < 0 or runtime >= period // 2:
        share = "all" if runtime < 0 else f"{100 * runtime // period} %"
        preempt = ", preemptible kernel" if "PREEMPT_RT" in os.uname().version else ""
        return Finding("real-time share", "ok", f"{share} of a processor{preempt}")
    remedy = "`sysctl kernel.sched_rt_runtime_us=950000`"
    return Finding("real-time share", "warn", f"only {100 * runtime // period} % of a processor", remedy)


def processors() -> Finding:
    speaking = current().speaking_cpus()
    return Finding("processors", "ok", f"speaks on {', '.join(map(str, speaking))}", value=len(speaking))


def _granted(topic: str, outcome: Outcome, fact: str) -> Finding:
    if outcome:
        return Finding(topic, "ok", fact)
    return Finding(topic, "warn", f"{fact}: refused", outcome.remedy)
