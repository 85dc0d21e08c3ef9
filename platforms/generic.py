"""Any Linux: memory locking, scheduling and limits through the standard system calls.

Where the system refuses, a function says so with the remedy in its `Outcome` and the runtime goes on without.
"""

import ctypes
import mmap
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from .blas import limit_blas_threads
from .board import board
from .facts import Outcome

__all__ = ["advise", "board", "limit_blas_threads", "lock_memory", "pin", "schedule_fifo", "thread_stack"]

_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4
_CAP_IPC_LOCK = 14
_LOCK_REMEDY = "allow it with `ulimit -l unlimited`, in a systemd unit LimitMEMLOCK=infinity"


def lock_memory() -> Outcome:
    """Keep this process's pages in memory, each from its first touch on (mlockall with MCL_ONFAULT).

    A finite RLIMIT_MEMLOCK counts as a refusal even where today's pages fit: with MCL_FUTURE, every later
    mapping beyond the limit would fail.
    """
    if sys.platform != "linux":
        return Outcome(False, f"memory locking is not supported on {sys.platform}")
    if not _may_lock_all():
        return Outcome(False, f"RLIMIT_MEMLOCK is too low to lock memory: {_LOCK_REMEDY}")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT) != 0:
        return Outcome(False, f"mlockall: {os.strerror(ctypes.get_errno())}; {_LOCK_REMEDY}")
    return Outcome(True)


def _may_lock_all() -> bool:
    import resource  # POSIX only

    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return soft == resource.RLIM_INFINITY or _has_capability(_CAP_IPC_LOCK)


def _has_capability(bit: int) -> bool:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return False
    effective = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return bool(int(effective, 16) >> bit & 1)


def advise(mapping: mmap.mmap) -> None:
    """Wanted soon, and kept out of core dumps: it holds what people said."""
    for name in ("MADV_WILLNEED", "MADV_DONTDUMP"):
        if hasattr(mmap, name):
            mapping.madvise(getattr(mmap, name))


def schedule_fifo(priority: int) -> Outcome:
    """Real-time scheduling (SCHED_FIFO, 1 lowest to 99) for the calling thread."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, AttributeError) as error:
        remedy = "allow it with `ulimit -r 99`, in a systemd unit LimitRTPRIO=99"
        return Outcome(False, f"no real-time priority {priority} ({error}): {remedy}")
    return Outcome(True)


def pin(cpus: Iterable[int]) -> Outcome:
    """Run the calling thread on these processors only."""
    wanted = sorted(set(cpus))
    try:
        os.sched_setaffinity(0, wanted)
    except (OSError, ValueError, AttributeError) as error:
        return Outcome(False, f"cannot run on processors {wanted} ({error}): name some of this machine's")
    return Outcome(True)


def thread_stack(nbytes: int) -> Outcome:
    """Stack size of threads started from now on; locked memory counts what a thread touches of it."""
    try:
        threading.stack_size(nbytes)
    except (ValueError, RuntimeError) as error:
        return Outcome(False, f"no stack of {nbytes} bytes ({error}): give whole pages, 32 KiB or more")
    return Outcome(True)
