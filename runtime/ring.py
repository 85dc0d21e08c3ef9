"""Single-producer single-consumer rings, and the doorbell their two threads sleep on.

Two counters only grow, and each has one owner: the writer counts what it wrote, the reader what it released.
Data goes first, then the counter; so whoever sees the counter sees the data. What that order rests on:

* With the GIL (CPython): one thread runs Python at a time, and handing over the GIL publishes every store
  made before. The counters are plain ints, and a doorbell makes a system call only when somebody sleeps.
* On a free-threaded CPython plain stores promise nothing, least of all on Arm. There the count itself travels
  through an eventfd: the writer's add and the reader's fetch take the same lock in the kernel, so every byte
  written before the add is seen after the fetch. Doorbells always ring.
* Anywhere else (another interpreter, or free threads without eventfd) the constructor refuses.

`readable`, `read_view`, `release`, `pop`, `clear` and `wait_readable` are the reader's; `writable`,
`write_view`, `commit`, `push` and `wait_writable` the writer's. `close` and `closed` are anybody's.
"""

import contextlib
import math
import os
import select
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import PoolError

T = TypeVar("T")
_ONE = (1).to_bytes(8, sys.byteorder)


def _has_gil() -> bool:
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


class Doorbell:
    """Wakes the one thread that sleeps on it; any thread may ring. Several rings may share a bell."""

    def __init__(self) -> None:
        self._always = not _has_gil()  # without the GIL the flag could be seen too late
        self._asleep = self._always  # the sleeper's flag
        if hasattr(os, "eventfd"):
            self._read_fd = self._write_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        else:
            self._read_fd, self._write_fd = os.pipe()
            os.set_blocking(self._write_fd, False)
            os.set_blocking(self._read_fd, False)
        for fd in {self._write_fd, self._read_fd}:
            weakref.finalize(self, os.close, fd).atexit = False  # a late ring must find it open
        self._poll = select.poll()
        self._poll.register(self._read_fd, select.POLLIN)

    def ring(self) -> None:
        """Wake the sleeper, if there is one."""
        if self._asleep:
            with contextlib.suppress(BlockingIOError):  # a full pipe rings already
                os.write(self._write_fd, _ONE)

    def wait(self, ready: Callable[[], bool], timeout: float | None = None) -> bool:
        """Sleep until a ring after which `ready()` holds, at most `timeout` seconds; returns `ready()`."""
        if ready():
            return True
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        self._asleep = True
        try:
            while not ready():
                left_ms = (deadline - time.monotonic()) * 1000
                if not self._poll.poll(None if left_ms == math.inf else max(0, math.ceil(left_ms))):
                    return ready()
                os.read(self._read_fd, 4096)
            return True
        finally:
            self._asleep = self._always


class _Counter(Protocol):
    """A number that only grows: its owner adds, its peer looks."""

    mine: int
    """The owner's own reading."""

    def add(self, n: int) -> None:
        """Owner: publish `n` more."""

    def seen(self) -> int:
        """Peer: all that was published."""


class _PlainCounter:
    """Ordered by the GIL."""

    def __init__(self) -> None:
        self.mine = 0

    def add(self, n: int) -> None:
        self.mine += n

    def seen(self) -> int:
        return self.mine


class _KernelCounter:
    """Ordered by the kernel's lock inside an eventfd, which carries the count."""

    def __init__(self) -> None:
        self.mine = 0
        self._seen = 0
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        weakref.finalize(self, os.close, self._fd).atexit = False

    def add(self, n: int) -> None:
        self.mine += n
        os.eventfd_write(self._fd, n)

    def seen(self) -> int:
        with contextlib.suppress(BlockingIOError):  # nothing new
            self._seen += os.eventfd_read(self._fd)
        return self._seen


def _counter() -> _Counter:
    if sys.implementation.name == "cpython":
        if _has_gil():
            return _PlainCounter()
        if hasattr(os, "eventfd"):
            return _KernelCounter()
    raise PoolError("nothing orders memory here: use CPython with its GIL, or free-threaded on Linux")


class _Spsc:
    """Counting, waiting and closing, whatever the items are.

    A closed ring takes nothing more, and what it holds can still be read. A bell given to the constructor is
    rung for every such event; so one thread can sleep on many rings.
    """

    def __init__(
        self, capacity: int, data_bell: Doorbell | None = None, space_bell: Doorbell | None = None
    ) -> None:
        if capacity < 1 or capacity & (capacity - 1):
            raise PoolError(f"a ring of {capacity} items: the capacity must be a power of two")
        self.capacity = capacity
        self.closed = False
        self._mask = capacity - 1
        self._written = _counter()
        self._read = _counter()
        self._data_bell = data_bell or Doorbell()
        self._space_bell = space_bell or Doorbell()

    @property
    def readable(self) -> int:
        """Items the reader may take."""
        return self._written.seen() - self._read.mine

    @property
    def writable(self) -> int:
        """Items the writer may add; none once the ring is closed."""
        return 0 if self.closed else self._space()

    def _space(self) -> int:
        return self.capacity - self._written.mine + self._read.seen()

    def commit(self, n: int) -> None:
        """Publish the first `n` items of the last write view."""
        if not 0 <= n <= self._space():
            raise ValueError(f"commit of {n} items where {self._space()} are free")
        self._written.add(n)
        self._data_bell.ring()

    def release(self, n: int) -> None:
        """Give back the space of the first `n` items of the last read view."""
        if not 0 <= n <= self.readable:
            raise ValueError(f"release of {n} items where {self.readable} are there")
        self._read.add(n)
        self._space_bell.ring()

    def clear(self) -> None:
        """Reader: drop all that is readable. The bytes stay in the region until it is wiped."""
        self.release(self.readable)

    def wait_readable(self, timeout: float | None = None, count: int = 1) -> bool:
        """Sleep until `count` items are readable, the ring closes or `timeout` seconds pass: are they?"""
        self._data_bell.wait(lambda: self.closed or self.readable >= count, timeout)
        return self.readable >= count

    def wait_writable(self, timeout: float | None = None, count: int = 1) -> bool:
        """Sleep until `count` items fit, the ring closes or `timeout` seconds pass; do they?"""
        self._space_bell.wait(lambda: self.closed or self.writable >= count, timeout)
        return self.writable >= count

    def close(self) -> None:
        """End of data, or cancelled: wakes both sides."""
        self.closed = True
        self._data_bell.ring()
        self._space_bell.ring()

    def reopen(self) -> None:
        """Empty and open again, for the next session; only while neither side is at work."""
        self.clear()
        self.closed = False


class Ring(_Spsc):
    """A ring of equal items, `(capacity, *item_shape)` of `dtype`, in the first bytes of a uint8 region."""

    def __init__(
        self,
        region: NDArray[np.uint8],
        dtype: DTypeLike,
        item_shape: tuple[int, ...],
        capacity: int,
        *,
        data_bell: Doorbell | None = None,
        space_bell: Doorbell | None = None,
    ) -> None:
        super().__init__(capacity, data_bell, space_bell)
        need = ring_nbytes(dtype, item_shape, capacity)
        if region.dtype != np.uint8 or region.ndim != 1 or region.nbytes < need or need == 0:
            raise PoolError(
                f"a ring of {capacity} items {item_shape} needs {need} bytes (above 0), not {region.dtype}"
                f" {region.shape}"
            )
        self._items: NDArray[Any] = region[:need].view(dtype).reshape(capacity, *item_shape)

    def write_view(self, n: int) -> NDArray[Any]:
        """Up to `n` free items in one piece, to be filled: shorter at the seam, empty when full or closed."""
        start = self._written.mine & self._mask
        return self._items[start : start + max(0, min(n, self.writable, self.capacity - start))]

    def read_view(self, n: int) -> NDArray[Any]:
        """Up to `n` readable items in one piece: shorter at the seam, empty when there are none."""
        start = self._read.mine & self._mask
        return self._items[start : start + max(0, min(n, self.readable, self.capacity - start))]

    def push(self, items: NDArray[Any]) -> int:
        """Copy in as many of `items` (n, *item_shape) as fit; returns how many."""
        done = 0
        while len(view := self.write_view(len(items) - done)):
            view[...] = items[done : done + len(view)]
            self.commit(len(view))
            done += len(view)
        return done

    def pop(self, out: NDArray[Any]) -> int:
        """Copy out as many items as are there and fit `out` (n, *item_shape); returns how many."""
        done = 0
        while len(view := self.read_view(len(out) - done)):
            out[done : done + len(view)] = view
            self.release(len(view))
            done += len(view)
        return done


def ring_nbytes(dtype: DTypeLike, item_shape: tuple[int, ...], capacity: int) -> int:
    """Bytes a `Ring` needs of its region."""
    return np.dtype(dtype).itemsize * math.prod(item_shape) * capacity


class ObjectRing(_Spsc, Generic[T]):
    """A ring of Python objects (clauses between the text stages), over a list made once."""

    def __init__(
        self, capacity: int, *, data_bell: Doorbell | None = None, space_bell: Doorbell | None = None
    ) -> None:
        super().__init__(capacity, data_bell, space_bell)
        self._slots: list[T | None] = [None] * capacity

    def push(self, item: T) -> bool:
        """Add one object; False when the ring is full or closed."""
        if not self.writable:
            return False
        self._slots[self._written.mine & self._mask] = item
        self.commit(1)
        return True

    def pop(self) -> T | None:
        """Take the oldest object; None when there is none."""
        if not self.readable:
            return None
        slot = self._read.mine & self._mask
        item, self._slots[slot] = self._slots[slot], None
        self.release(1)
        return item

    def clear(self) -> None:
        """Reader: drop every object, and the ring's references to them."""
        while self.readable:
            self.pop()
