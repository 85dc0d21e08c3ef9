"""Limits that control groups set to this process, version 1 and 2, whatever is mounted.

A container that uses more memory than its group may is killed, and one that used its share of processor time stands
still for the rest of the period: the stutter that no priority helps against.
Paths: cgroups(7), Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst of the kernel.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from .facts import MemoryRoom

UNLIMITED = 1 << 60
"""Version 1 writes a limit of nearly 2**63 where there is none."""
MOUNTS = "sys/fs/cgroup"


def memory_room(root: Path = Path("/")) -> MemoryRoom | None:
    """The group that leaves the least memory, this process's own or one above; None without any limit."""
    rooms = [room for room in _rooms(root) if room.limit_bytes < UNLIMITED]
    return min(rooms, key=lambda room: room.free_bytes, default=None)


def processor_share(root: Path = Path("/")) -> float | None:
    """Processors' worth of time that the tightest group grants, such as 0.5; None without a limit."""
    return min(_shares(root), default=None)


def _rooms(root: Path) -> Iterator[MemoryRoom]:
    for folder, group in _folders(root, "memory"):
        limit = _number(folder / "memory.max") or _number(folder / "memory.limit_in_bytes")
        if limit:
            used = _number(folder / "memory.current") or _number(folder / "memory.usage_in_bytes") or 0
            yield MemoryRoom(limit, max(0, used - _reclaimable(folder)), group)


def _reclaimable(folder: Path) -> int:
    """Bytes of files that nobody has used lately: the kernel takes them back before it kills anybody."""
    names = {"inactive_file", "total_inactive_file"}
    rows = [line.split() for line in _text(folder / "memory.stat").splitlines()]
    return max((int(row[1]) for row in rows if len(row) == 2 and row[0] in names), default=0)


def _shares(root: Path) -> Iterator[float]:
    for folder, _ in _folders(root, "cpu"):
        quota, _, period = _text(folder / "cpu.max").partition(" ")
        if not quota:
            quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period):
            yield int(quota) / int(period)


def _folders(root: Path, controller: str) -> Iterator[tuple[Path, str]]:
    """Folders of this process's group and of all above it. In a container its own group looks like the root."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = root / MOUNTS / (controller if controllers else "")
        group = PurePosixPath(path)
        for above in (group, *group.parents):
            folder = top / str(above).lstrip("/")
            if folder.is_dir():
                yield folder, str(above)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.isdigit() else None
