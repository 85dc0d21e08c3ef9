"""Which machine this is and how it is doing, read from /proc and /sys."""

import os
import platform
from pathlib import Path

from .facts import Board, Health

_ARM_PARTS = {
    "0xd03": "Cortex-A53",
    "0xd04": "Cortex-A35",
    "0xd05": "Cortex-A55",
    "0xd07": "Cortex-A57",
    "0xd08": "Cortex-A72",
    "0xd09": "Cortex-A73",
    "0xd0a": "Cortex-A75",
    "0xd0b": "Cortex-A76",
    "0xd0c": "Neoverse-N1",
    "0xd0d": "Cortex-A77",
    "0xd41": "Cortex-A78",
    "0xd42": "Cortex-A78AE",
}
"""Arm's main ID register, part numbers as /proc/cpuinfo writes them (implementer 0x41)."""


def board(root: Path = Path("/")) -> Board:
    """The machine's facts; `root` is where /proc and /sys hang."""
    return Board(
        model=_model(root),
        cpu=_cpu(root),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )


def health(root: Path = Path("/")) -> Health:
    """Temperature and clock, as far as the kernel tells."""
    return Health(
        temperature_c(root), read(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or None
    )


def temperature_c(root: Path) -> float | None:
    """The hottest processor sensor; any sensor where none says it is the processor's."""
    zones = {}
    for zone in (root / "sys/class/thermal").glob("thermal_zone*"):
        value = read(zone / "temp")
        if value.lstrip("-").isdigit():
            zones[zone.name] = (read(zone / "type").lower(), int(value) / 1000)
    processor = [t for kind, t in zones.values() if any(word in kind for word in ("cpu", "soc", "pkg"))]
    return max(processor or [t for _, t in zones.values()], default=None)


def speaking_cpus(root: Path = Path("/")) -> tuple[int, ...]:
    """Where the threads that must not wait should run: processors kept free for such, else the fastest ones, without
    the first, which serves the interrupts, where others are left.
    """
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cpus = root / "sys/devices/system/cpu"
    isolated = _cpu_list(read(cpus / "isolated")) & allowed
    if isolated:
        return tuple(sorted(isolated))
    speeds = {cpu: _speed(cpus / f"cpu{cpu}") for cpu in allowed}
    fastest = {cpu for cpu in allowed if speeds[cpu] == max(speeds.values())}
    return tuple(sorted(fastest - {0} if len(fastest) > 2 else fastest))


def _speed(cpu: Path) -> int:
    """Of two kinds of cores on one chip the kernel tells the capacity, else the highest clock."""
    value = read(cpu / "cpu_capacity") or read(cpu / "cpufreq/cpuinfo_max_freq")
    return int(value) if value.isdigit() else 0


def _cpu_list(text: str) -> set[int]:
    """The kernel's lists, such as "0-2,5"."""
    cpus: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def features(root: Path = Path("/")) -> tuple[str, ...]:
    """What the processor can do that matters to a matrix product, of what /proc/cpuinfo lists."""
    wanted = (
        "neon",
        "asimd",
        "asimddp",
        "asimdhp",
        "sve",
        "i8mm",
        "avx2",
        "fma",
        "avx512f",
        "avx512_vnni",
        "amx_tile",
    )
    rows = [line.partition(":") for line in read(root / "proc/cpuinfo").splitlines()]
    flags = {flag for key, _, value in rows if key.strip() in ("flags", "Features") for flag in value.split()}
    return tuple(name for name in wanted if name in flags)


def read(path: Path) -> str:
    """A small text file, without the NUL that a device tree ends strings with; empty where unreadable."""
    try:
        return path.read_text(errors="replace").rstrip("\0\n ")
    except OSError:
        return ""


def _model(root: Path) -> str:
    return (
        read(root / "proc/device-tree/model")
        or read(root / "sys/class/dmi/id/product_name")
        or platform.machine()
    )


def _cpu(root: Path) -> str:
    """x86 writes a model name; Arm only part numbers, one a core: the last is the biggest core's."""
    rows = [line.partition(":") for line in read(root / "proc/cpuinfo").splitlines()]
    fields = {key.strip(): value.strip() for key, _, value in rows}
    part = fields.get("CPU part", "")
    return fields.get("model name") or _ARM_PARTS.get(part, part) or platform.machine()
