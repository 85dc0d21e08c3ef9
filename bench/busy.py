"""Other work for every processor, at ordinary priority."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def busy(processes: int, nice: int = 0) -> Iterator[None]:
    """While inside, so many processes compute without end."""
    command = [sys.executable, "-c", f"import os; os.nice({nice})\nwhile True: pass"]
    working = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for process in working:
            process.kill()
            process.wait()


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))
