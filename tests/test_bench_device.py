"""The device benches: what they count and how they judge."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from stonechat.engine import Bound, Program, load_graph

BENCH = Path(__file__).parents[1] / "bench"
TINY = Path(__file__).parent / "data" / "tiny_voice"


@pytest.fixture(scope="module", autouse=True)
def _environment() -> object:
    """The benches limit BLAS for their whole process; the tests' process stays as it was."""
    before = dict(os.environ)
    sys.path.insert(0, str(BENCH))  # they import each other, as scripts do
    yield
    sys.path.remove(str(BENCH))
    os.environ.clear()
    os.environ.update(before)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_work_of_products_and_other_steps() -> None:
    arm = load("arm")
    x, w, out = np.zeros((3, 4), np.float32), np.zeros((4, 5), np.float32), np.zeros((3, 5), np.float32)
    whole = arm.work_of(Bound({}, {}, {}, [(np.matmul, (x, w, out)), (np.add, (out, out, out))]))
    assert whole == arm.Work(flops=120, weight_bytes=80, packed_bytes=80, elements=15, calls=2)
    rows = arm.work_of(Bound({}, {}, {}, [(np.matmul, (x[:, None], w[None], out[:, None]))]))
    assert rows == arm.Work(flops=120, weight_bytes=80, reread_bytes=160, calls=1)


def test_every_weight_of_a_program_is_read_once_a_run() -> None:
    arm = load("arm")
    program = Program(load_graph(TINY / "vocoder.onnx"), {"T": 75})
    program.place(np.zeros(program.weight_bytes, np.uint8), np.zeros(program.arena_bytes, np.uint8))
    work = arm.work_of(program.bind({"T": 3}, np.zeros(program.state_bytes, np.uint8)))
    assert 0.5 * program.weight_bytes < work.weight_bytes <= 1.1 * program.weight_bytes
    assert work.flops == pytest.approx(2 * 3 * work.weight_bytes / 4, rel=0.5)


def test_seconds_of_a_core() -> None:
    arm = load("arm")
    core = arm.Core("c", 1e9, 8, 0.5, 1e9, 8, 4, 2, 1000, 10)
    work = arm.Work(4e8, 2e8, 8e8, 4e8, 1e6, 100, 1e6)
    parts = arm.seconds(work, core, 0.5)
    assert parts["products"] == pytest.approx(max(0.1, 0.2 + 0.1) + 0.1)
    assert parts["elementwise"] == pytest.approx(0.002)
    assert parts["calls"] == pytest.approx(1e-4)
    assert parts["synthesis"] == pytest.approx(0.5 * (0.4 + 0.002 + 1e-4))
    assert parts["Python"] == pytest.approx(0.01)
    assert [c.name for c in arm.CORES if c.name == arm.BARRED] == [arm.BARRED]


def test_counting_leaves_nothing_behind() -> None:
    arm = load("arm")
    run, tracer = Bound.run, sys.gettrace()
    ran: list[int] = []
    x = np.zeros(3)

    def add() -> None:
        for _ in range(10):
            np.add(x, 1)

    with arm.Counter() as counter:
        Bound({}, {}, {}, [(ran.append, (1,))]).run()
        add()
    assert ran == [1]
    assert 8 <= counter.work.calls <= 16  # its own calls are counted or not, a few a run
    assert counter.work.bytecodes > 5
    assert Bound.run is run
    sys.settrace(tracer)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="Linux's /proc")
def test_faults_of_each_thread_are_read() -> None:
    soak = load("soak")
    stop = threading.Event()

    def touch() -> None:
        np.zeros(32 << 20, np.uint8).fill(1)
        ready.set()
        stop.wait()

    ready, thread = threading.Event(), threading.Thread(target=touch, name="toucher")
    thread.start()
    ready.wait(30)
    faults = soak.thread_faults()
    stop.set()
    thread.join()
    assert faults["toucher"] > 10
    assert "MainThread" in faults


def test_verdict_of_a_soak(capsys: pytest.CaptureFixture[str]) -> None:
    soak = load("soak")
    first = soak.Reading(30, 80_000_000, {"vocoder": 5}, 0)
    assert soak.verdict([first, soak.Reading(90, 80_900_000, {"vocoder": 5}, 0)], True)
    assert not soak.verdict([first, soak.Reading(90, 81_100_000, {"vocoder": 5}, 0)], True)
    assert not soak.verdict([first, soak.Reading(90, 80_000_000, {"vocoder": 6}, 0)], True)
    assert not soak.verdict([first, soak.Reading(90, 80_000_000, {"vocoder": 5}, 1)], True)
    assert soak.verdict([first, soak.Reading(90, 80_000_000, {"vocoder": 5}, 1)], False)
    assert "FAILED  underruns: 1" in capsys.readouterr().out


def test_a_row_of_jitter() -> None:
    jitter = load("jitter")
    before = jitter.quick_turns.interval_s
    row = jitter.measure(str(TINY), 0.3, "quick")
    assert row.keys() == {"p50", "p99", "max", "underruns"}
    assert 0 <= row["p50"] <= row["p99"] <= row["max"]
    assert jitter.quick_turns.interval_s == before  # left as it is for "quick"
