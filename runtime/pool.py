"""The memory pool: one mapping, made first, from which every array of the runtime is cut.

Why locking is on-fault, stacks are small and BLAS threads are limited before numpy loads: measured on Python
3.11 with numpy, a 32 MiB pool and five threads, resident memory is

    not locked                                              57 MB
    MCL_CURRENT | MCL_FUTURE                               123 MB
    the same, five default thread stacks                   164 MB
    the same, four BLAS threads                            165 MB
    MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT                  57 MB

so pages are locked as they are first touched: the pool's own when a region is made (what no region needs is never
resident, 7 MB of a pool of 32 MiB with one session), the rest at warm-up.
"""

import contextlib
import mmap
import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from stonechat.platforms import current

from .errors import PoolError

ALIGNMENT = 64
"""Bytes; a cache line, and the widest vector register."""

_MIB = 1 << 20
_BAR = 32  # columns of the map


@dataclass(frozen=True)
class Region:
    """Where a named part of the pool lies."""

    name: str
    offset: int
    """Bytes from the start of the pool."""
    nbytes: int


class MemoryPool:
    """`mib` MiB of memory, locked where the system allows, handed out once in named regions.

    Regions are made while binding, by one thread; nothing is given back before `close`. Where locking is not
    allowed there is one warning that names the remedy, and the pool goes on unlocked (`locked` tells).

    Errors: PoolError when the system refuses the mapping, or a control group would kill who fills it.
    """

    def __init__(self, mib: float = 32, lock: bool = True) -> None:
        if not mib > 0:
            raise PoolError(f"a pool of {mib} MiB: pool_mib must be above 0")
        self.nbytes = _align(round(mib * _MIB))
        _check_room(self.nbytes)
        self._mapping = _map(self.nbytes)
        self._bytes: NDArray[np.uint8] = np.frombuffer(self._mapping, np.uint8)
        self._regions: list[Region] = []
        self._used = 0
        self.closed = False
        current().advise(self._mapping)
        self.locked: bool = lock and _lock()

    @property
    def free_bytes(self) -> int:
        """Bytes not yet in any region."""
        return self.nbytes - self._used

    @property
    def regions(self) -> tuple[Region, ...]:
        """What is where, in order of address."""
        return tuple(self._regions)

    def region(self, name: str, nbytes: int) -> NDArray[np.uint8]:
        """A zeroed view (nbytes,) uint8 that starts on a 64-byte boundary.

        Errors: PoolError when it does not fit (the message maps what needs how much), or the name is taken.
        """
        if self.closed:
            raise PoolError(f"region {name!r}: the pool is closed; make a new one")
        if nbytes < 0 or any(name == region.name for region in self._regions):
            raise PoolError(f"region {name!r} of {nbytes} bytes: give each region its own name and size >= 0")
        if nbytes > self.free_bytes:
            raise PoolError(self._too_small(name, nbytes))
        start = self._used
        self._regions.append(Region(name, start, nbytes))
        self._used = start + _align(nbytes)
        view = self._bytes[start : start + nbytes]
        view.fill(0)  # touches every page now, not while speaking
        return view

    def wipe(self, region: str | NDArray[Any]) -> None:
        """Zero a region by its name, or any view of the pool."""
        self._view(region).fill(0) if isinstance(region, str) else region.fill(0)

    def map(self) -> str:
        """The regions to scale: one line each with its size, and a bar over the whole pool."""
        state = "closed" if self.closed else "locked" if self.locked else "not locked"
        rows = [_row(region, self.nbytes) for region in self._regions]
        free = Region("(free)", self._used, self.free_bytes)
        return "\n".join([f"pool of {_size(self.nbytes)}, {state}", *rows, _row(free, self.nbytes, ".")])

    def close(self) -> None:
        """Give the mapping back; where views of it still live, when the last of them dies."""
        if self.closed:
            return
        self.closed = True
        self._bytes = np.empty(0, np.uint8)
        mapping = self._mapping
        del self._mapping
        with contextlib.suppress(BufferError):  # live views hold the mapping, and it goes with them
            mapping.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _view(self, name: str) -> NDArray[np.uint8]:
        for region in self._regions:
            if region.name == name and not self.closed:
                return self._bytes[region.offset : region.offset + region.nbytes]
        raise PoolError(f"no region {name!r} to wipe; there are: {', '.join(r.name for r in self._regions)}")

    def _too_small(self, name: str, nbytes: int) -> str:
        enough = -(-(self._used + _align(nbytes)) // _MIB)
        return (
            f"the memory pool is too small: {name!r} needs {_size(nbytes)}, {_size(self.free_bytes)} are"
            f" free; use pool_mib={enough} or more\n{self.map()}\n{_row(Region(name, self._used, nbytes), 0)}"
        )


def _map(nbytes: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, ValueError, OverflowError) as error:
        raise PoolError(f"no memory for {_size(nbytes)} ({error}); use a smaller pool_mib") from error


def _check_room(nbytes: int) -> None:
    room = current().memory_room()
    if room and room.free_bytes < nbytes:
        raise PoolError(
            f"the control group {room.group} allows {_size(room.limit_bytes)}, of which {_size(room.free_bytes)} are"
            f" left: a pool of {_size(nbytes)} would have this process killed; raise the limit"
            " (docker run --memory=256m, in a systemd unit MemoryMax=256M), or use a smaller pool_mib"
        )


def _lock() -> bool:
    outcome = current().lock_memory()
    if not outcome:
        warnings.warn(f"memory is not locked, so speech may stutter: {outcome.remedy}", stacklevel=3)
    return bool(outcome)


def _align(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _size(nbytes: int) -> str:
    for unit, scale in (("MiB", _MIB), ("KiB", 1 << 10)):
        if nbytes >= scale:
            return f"{nbytes / scale:.1f} {unit}"
    return f"{nbytes} B"


def _row(region: Region, pool_nbytes: int, mark: str = "#") -> str:
    """One line of the map; without a pool to lie in, a line that says so."""
    place = "does not fit"
    if pool_nbytes:
        first = min(region.offset * _BAR // pool_nbytes, _BAR - 1)
        last = max(first + 1, -(-(region.offset + region.nbytes) * _BAR // pool_nbytes))
        place = f"|{' ' * first}{mark * (last - first)}{' ' * (_BAR - last)}|"
    return f"  {region.offset:#010x} {_size(region.nbytes):>10} {place} {region.name}"
