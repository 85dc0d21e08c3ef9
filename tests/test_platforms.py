"""The porting surface on this machine and on pictures of others."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from stonechat.platforms import current, generic
from stonechat.platforms.board import board

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's calls")


def run(code: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=clean, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_platforms_import_no_numpy() -> None:
    assert run("import sys, stonechat.platforms; print('numpy' in sys.modules)") == "False"


def test_board_of_this_machine() -> None:
    facts = current().board()
    assert facts.model
    assert facts.cpu
    assert 1 <= facts.cores <= (os.cpu_count() or 1)
    assert facts.memory_bytes > 64 << 20


def test_board_of_a_raspberry_pi(tmp_path: Path) -> None:
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/model").write_bytes(b"Raspberry Pi 4 Model B Rev 1.4\0")
    (tmp_path / "proc/cpuinfo").write_text(
        "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nRevision\t: c03114\n"
    )
    facts = board(tmp_path)
    assert (facts.model, facts.cpu) == ("Raspberry Pi 4 Model B Rev 1.4", "Cortex-A72")


def test_board_without_proc(tmp_path: Path) -> None:
    assert board(tmp_path).model == os.uname().machine


COUNT = """
import ctypes
from stonechat.platforms import blas, current
def threads():
    for path in blas._loaded_openblas():
        for name in blas._SETTERS:
            get = getattr(ctypes.CDLL(path), name.replace("_set_", "_get_"), None)
            if get: return get()
"""


def test_blas_limited_before_numpy_loads() -> None:
    code = COUNT + "print(current().limit_blas_threads(1)); import numpy; print(threads())"
    where, threads = run(code).split()
    assert where == "environment"
    assert threads in ("1", "None")  # None: a BLAS other than OpenBLAS


def test_blas_limited_after_numpy_loaded() -> None:
    code = COUNT + "import numpy; print(current().limit_blas_threads(1), threads())"
    assert run(code) in ("library 1", "none None")


def test_blas_threads_below_one() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        current().limit_blas_threads(0)


@linux
def test_lock_refused_by_a_low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (8 << 20, 8 << 20))
    monkeypatch.setattr(generic, "_has_capability", lambda bit: False)
    outcome = current().lock_memory()
    assert not outcome
    assert "ulimit -l" in outcome.remedy
    assert "LimitMEMLOCK=infinity" in outcome.remedy


@linux
def test_pin_is_the_calling_threads_own() -> None:
    one = min(os.sched_getaffinity(0))
    seen = []

    def pinned() -> None:
        seen.extend([bool(current().pin([one])), os.sched_getaffinity(0)])

    thread = threading.Thread(target=pinned)
    thread.start()
    thread.join()
    assert seen == [True, {one}]
    assert not current().pin([])
    assert "processors [100000]" in current().pin([100000]).remedy


@linux
def test_fifo_granted_or_told_why() -> None:
    def ask() -> None:
        outcomes.append(current().schedule_fifo(10))
        policies.append(os.sched_getscheduler(0))

    outcomes, policies = [], []
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert (policies == [os.SCHED_FIFO]) == bool(outcomes[0])
    assert outcomes[0] or "ulimit -r" in outcomes[0].remedy
    assert not current().schedule_fifo(1000)


def test_thread_stack() -> None:
    before = threading.stack_size()
    try:
        assert current().thread_stack(256 << 10)
        assert threading.stack_size() == 256 << 10
        assert not current().thread_stack(7)
    finally:
        threading.stack_size(before)
