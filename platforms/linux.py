"""What any Linux board does alike: memory locking, scheduling and limits through the standard system calls.

Where the system refuses, a function says so with the remedy in its `Outcome` and the runtime goes on without.
"""

import ctypes
import mmap
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from .blas import blas_threads, limit_blas_threads
from .board import board, features, speaking_cpus
from .control_groups import memory_room, processor_share
from .facts import Outcome

__all__ = [
    "advise",
    "blas_threads",
    "board",
    "features",
    "keep_heap",
    "limit_blas_threads",
    "lock_memory",
    "memory_room",
    "pin",
    "processor_share",
    "schedule_fifo",
    "sound_server",
    "speaking_cpus",
    "thread_stack",
]

_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4
_CAP_IPC_LOCK = 14
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8
_HEAP_RESERVE = 4 << 20
"""Bytes of the heap that are touched ahead: what speaking grows by."""
_LOCK_ROOM = 64 << 20
"""Bytes that a container must leave free for memory to be locked: what is locked can no longer be taken back."""
_LOCK_REMEDY = "allow it with `ulimit -l unlimited`, in a systemd unit LimitMEMLOCK=infinity"


def lock_memory() -> Outcome:
    """Keep this process's pages in memory, each from its first touch on (mlockall with MCL_ONFAULT).

    A finite RLIMIT_MEMLOCK counts as a refusal even where today's pages fit: with MCL_FUTURE, every later
    mapping beyond the limit would fail. A soft limit is raised to a hard one without end.
    """
    if sys.platform != "linux":
        return Outcome(False, f"memory locking is not supported on {sys.platform}")
    if not _may_lock_all():
        return Outcome(False, f"RLIMIT_MEMLOCK is too low to lock memory: {_LOCK_REMEDY}")
    room = memory_room()
    if room and room.free_bytes < _LOCK_ROOM:
        return Outcome(
            False,
            f"the control group {room.group} leaves {room.free_bytes >> 20} MiB, too few to lock memory in: raise its"
            " limit (docker run --memory=256m, in a systemd unit MemoryMax=256M)",
        )
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT) != 0:
        return Outcome(False, f"mlockall: {os.strerror(ctypes.get_errno())}; {_LOCK_REMEDY}")
    return Outcome(True)


def _may_lock_all() -> bool:
    import resource  # POSIX only

    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft != resource.RLIM_INFINITY and hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
        soft = hard
    return soft == resource.RLIM_INFINITY or _has_capability(_CAP_IPC_LOCK)


def _has_capability(bit: int) -> bool:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return False
    effective = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return bool(int(effective, 16) >> bit & 1)


_HEAP_SETTINGS = ((_M_ARENA_MAX, 1), (_M_TRIM_THRESHOLD, 2**31 - 1), (_M_MMAP_MAX, 0))


def keep_heap() -> Outcome:
    """What the C library's heap once had it keeps, and some is touched ahead, so that speaking meets no page for the
    first time (mallopt(3)). All threads share one heap, so call it before they start. Python's own arenas are outside
    it: PYTHONMALLOC=malloc in the environment puts its objects there too. Called again it touches as much again.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return Outcome(False, "this C library cannot be told to keep its heap; glibc can")
    kept = all(mallopt(name, value) for name, value in _HEAP_SETTINGS)
    ctypes.create_string_buffer(_HEAP_RESERVE)  # zeroed, then given back to the heap
    return Outcome(bool(kept), "" if kept else "mallopt refused: a glibc of 2.3 or newer would not")


def advise(mapping: mmap.mmap) -> None:
    """Wanted soon, and kept out of core dumps: it holds what people said."""
    for name in ("MADV_WILLNEED", "MADV_DONTDUMP"):
        if hasattr(mmap, name):
            mapping.madvise(getattr(mmap, name))


def sound_server(root: Path = Path("/")) -> bool:
    """Whether PulseAudio or PipeWire listens for this user, or for the whole system."""
    own = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}").lstrip("/")
    places = (f"{own}/pulse/native", f"{own}/pipewire-0", "run/pulse/native", "var/run/pulse/native")
    return bool(os.environ.get("PULSE_SERVER")) or any((root / place).exists() for place in places)


def schedule_fifo(priority: int, thread: int = 0) -> Outcome:
    """Real-time scheduling (SCHED_FIFO, 1 lowest to 99) for a thread by its number; 0 is the calling one.

    What it starts from then on does not inherit it. A soft limit is raised to the hard one.
    """
    try:
        _allow_priority(priority)
        os.sched_setscheduler(thread, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
    except (OSError, AttributeError) as error:
        remedy = "allow it with `ulimit -r 99`, in a systemd unit LimitRTPRIO=99"
        return Outcome(False, f"no real-time priority {priority} ({error}): {remedy}")
    return Outcome(True)


def _allow_priority(priority: int) -> None:
    import resource  # POSIX only

    soft, hard = resource.getrlimit(resource.RLIMIT_RTPRIO)
    if soft < priority <= hard or (soft < priority and hard == resource.RLIM_INFINITY):
        resource.setrlimit(resource.RLIMIT_RTPRIO, (hard, hard))


def pin(cpus: Iterable[int], thread: int = 0) -> Outcome:
    """Run a thread, by its number, on these processors only; 0 is the calling one."""
    wanted = sorted(set(cpus))
    try:
        os.sched_setaffinity(thread, wanted)
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
