"""Which machine this is, read from /proc and /sys."""

import os
import platform
from pathlib import Path

from .facts import Board

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


def _read(path: Path) -> str:
    """A small text file, without the NUL that a device tree ends strings with; empty where unreadable."""
    try:
        return path.read_text(errors="replace").rstrip("\0\n ")
    except OSError:
        return ""


def _model(root: Path) -> str:
    return (
        _read(root / "proc/device-tree/model")
        or _read(root / "sys/class/dmi/id/product_name")
        or platform.machine()
    )


def _cpu(root: Path) -> str:
    """x86 writes a model name; Arm only part numbers, one a core: the last is the biggest core's."""
    rows = [line.partition(":") for line in _read(root / "proc/cpuinfo").splitlines()]
    fields = {key.strip(): value.strip() for key, _, value in rows}
    part = fields.get("CPU part", "")
    return fields.get("model name") or _ARM_PARTS.get(part, part) or platform.machine()
