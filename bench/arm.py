"""An estimate of what a voice costs on Arm cores: counted work, divided by published and assumed figures of the cores.

    python bench/arm.py [--voice default] [--chunk-ms 40] [--check]

Counted on any machine, by speaking a text of both languages: multiplications and bytes of weights of every engine
step, elements of every other step, numpy calls, and bytecodes of everything around them. The time of a core is

    products      max(flops / (peak x efficiency), weights from memory, and from the second-level cache for each further
                  row where a product is made row by row) + the copy that BLAS makes of the weights where it is not
    elementwise   elements x cycles an element
    calls         numpy calls x cycles a call: dispatch, checks, the loop's set-up
    synthesis     source, spectra and overlap-add: so much of the engine's time as it takes on the machine that counts
    Python        bytecodes x cycles a bytecode; a subscript or a call of another C function counts as ten

It is an estimate: who owns the board compares it with the real-time factor that `stonechat doctor` measures there.
`--check` measures the same figures of this machine, and holds its estimate against what it really takes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter as Counts
from collections.abc import Callable
from dataclasses import dataclass
from dis import opname
from types import CodeType, FrameType
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402
import stonechat  # noqa: E402
from stonechat.engine import Bound  # noqa: E402
from stonechat.measure import speed  # noqa: E402
from stonechat.synthesis import Synthesiser  # noqa: E402

TEXT = "前方三百米右转，进入中山路，然后沿当前道路继续行驶五公里。In three hundred meters, turn right onto Main Street."
LIGHT_CALL = 10
BAR = 0.35
BARRED = "Cortex-A72, 1.5 GHz"


@dataclass(frozen=True)
class Core:
    """Figures of one core. Published where a source is named, else assumed, on the slow side."""

    name: str
    clock_hz: float
    flops_per_cycle: float
    """Single precision, fused multiply-add counted as two (Arm's optimisation guides: FMLA lanes a cycle)."""
    efficiency: float
    """Of a product with three rows: a four-row kernel is three quarters full, and it must load what it multiplies."""
    stream_bytes_per_s: float
    """Read from memory by one core (STREAM)."""
    cache_bytes_per_cycle: float
    """Read from the second-level cache."""
    pack_bytes_per_cycle: float
    """BLAS copies the weights into the order its kernel wants."""
    cycles_per_element: float
    """Of an elementwise step, its share of exp, tanh and erf included."""
    cycles_per_call: float
    cycles_per_bytecode: float


CORES = (
    # A53: two 64-bit loads short of feeding its FMA; Raspberry Pi 3, LPDDR2.
    Core("Cortex-A53, 1.4 GHz", 1.4e9, 8, 0.25, 2.0e9, 4.0, 2.0, 6.0, 5000, 80),
    # A72: linpack in double precision reaches 2.25 of 4 a cycle on a Pi 4; STREAM there 5.5 GB/s (sci-pi.org.uk).
    Core(BARRED, 1.5e9, 8, 0.40, 4.0e9, 8.0, 4.0, 3.0, 3000, 45),
    Core("Cortex-A76, 2.4 GHz", 2.4e9, 16, 0.45, 9.0e9, 16.0, 8.0, 1.5, 1500, 22),
    Core("Cortex-A78, 2.0 GHz", 2.0e9, 16, 0.45, 12.0e9, 16.0, 8.0, 1.4, 1300, 20),
)


@dataclass(frozen=True)
class Work:
    """Per second of speech."""

    flops: float = 0
    weight_bytes: float = 0
    """Read from memory: no cache holds a whole voice."""
    reread_bytes: float = 0
    """Read again at once for the next row."""
    packed_bytes: float = 0
    """Copied by BLAS."""
    elements: float = 0
    calls: float = 0
    """Of numpy's functions."""
    bytecodes: float = 0

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def over(self, seconds: float) -> Work:
        return Work(*(value / seconds for value in vars(self).values()))


def seconds(work: Work, core: Core, synthesis_share: float) -> dict[str, float]:
    """Seconds of one core per second of speech, by what they go to."""
    multiplying = work.flops / (core.flops_per_cycle * core.efficiency * core.clock_hz)
    reading = work.weight_bytes / core.stream_bytes_per_s
    reading += work.reread_bytes / (core.cache_bytes_per_cycle * core.clock_hz)
    packing = work.packed_bytes / (core.pack_bytes_per_cycle * core.clock_hz)
    parts = {
        "products": max(multiplying, reading) + packing,
        "elementwise": work.elements * core.cycles_per_element / core.clock_hz,
        "calls": work.calls * core.cycles_per_call / core.clock_hz,
    }
    parts["synthesis"] = synthesis_share * sum(parts.values())
    parts["Python"] = work.bytecodes * core.cycles_per_bytecode / core.clock_hz
    return parts


def work_of(bound: Bound) -> Work:
    """One run of an engine program."""
    total = Work()
    for kernel, args in bound.steps:
        arrays = [a for a in args if isinstance(a, np.ndarray)]
        if kernel is np.matmul:
            left, right, out = arrays[:3]
            flops, weights = 2.0 * out.size * left.shape[-1], right.size * right.itemsize
            by_row = left.ndim > 1 and left.shape[-2] == 1
            again = out.size * right.shape[-2] * right.itemsize - weights if by_row else 0
            total += Work(flops, weights, again, 0 if by_row else weights, calls=1)
        else:
            total += Work(elements=float(max((a.size for a in arrays), default=0)), calls=1)
    return total


class Counter:
    """Counts what is done while it is entered, in this thread."""

    def __init__(self) -> None:
        self.work = Work()
        self._known: dict[int, tuple[Bound, Work]] = {}
        self._ops: Counts[int] = Counts()
        self._events: Counts[str] = Counts()
        self._codes: dict[CodeType, bytes] = {}

    def __enter__(self) -> Counter:
        self._run = Bound.run
        counter = self

        def run(bound: Bound) -> None:
            sys.setprofile(None)
            sys.settrace(None)
            known = counter._known.setdefault(id(bound), (bound, work_of(bound)))
            counter.work += known[1]
            counter.work += Work(bytecodes=6 * len(bound.steps))  # FOR_ITER, UNPACK, STORE, CALL, POP, JUMP
            counter._run(bound)
            sys.settrace(counter._trace)
            sys.setprofile(counter._profile)

        Bound.run = run  # type: ignore[method-assign]
        sys.settrace(self._trace)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        sys.setprofile(None)
        Bound.run = self._run  # type: ignore[method-assign]
        named: Counts[str] = Counts()
        for op, n in self._ops.items():
            named[opname[op]] += n
        called = sum(n for name, n in named.items() if name in ("CALL", "CALL_FUNCTION_EX", "CALL_KW"))
        light = self._events["c_call"] + sum(named[name] for name in ("BINARY_SUBSCR", "STORE_SUBSCR"))
        numpy_calls = max(
            0, called - self._events["c_call"] - self._events["call"]
        )  # ufuncs, and a few types
        self.work += Work(calls=numpy_calls, bytecodes=sum(named.values()) + LIGHT_CALL * light)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            code = frame.f_code
            if code not in self._codes:
                self._codes[code] = code.co_code  # made anew each time it is asked for
            self._ops[self._codes[code][frame.f_lasti]] += 1
        return self._trace

    def _profile(self, _: FrameType, event: str, what: object) -> None:
        self._events[event] += 1


def counted(voice: stonechat.Voice, chunk_ms: int) -> Work:
    """Work per second of speech, all stages in this thread."""
    samples = 0
    list(voice.inference("好。Hi.", stream=True, inline=True, chunk_ms=chunk_ms))
    with Counter() as counter:
        for chunk in voice.inference(TEXT, stream=True, inline=True, chunk_ms=chunk_ms):
            samples += len(chunk.samples)
    return counter.work.over(samples / voice.facts.rate_hz)


def synthesis_share(voice: stonechat.Voice, chunk_ms: int) -> float:
    """Processor time of the sound synthesis per processor time of the engine's programs, here."""
    spent = {Bound: 0.0, Synthesiser: 0.0}
    runs = {kind: kind.run for kind in spent}

    def timed(kind: Any) -> Callable[..., None]:
        def run(*args: Any) -> None:
            began = time.thread_time()
            runs[kind](*args)
            spent[kind] += time.thread_time() - began

        return run

    try:
        for kind in spent:
            kind.run = timed(kind)  # type: ignore[attr-defined]
        list(voice.inference(TEXT, stream=True, inline=True, chunk_ms=chunk_ms))
    finally:
        for kind, run in runs.items():
            kind.run = run  # type: ignore[attr-defined]
    return spent[Synthesiser] / spent[Bound]


def best_s(call: Callable[[], object], repeats: int, rounds: int = 7) -> float:
    """Seconds of one call, the best of a few rounds."""
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(repeats):
            call()
        found.append((time.perf_counter() - began) / repeats)
    return min(found)


def this_machine() -> Core:
    """Its figures as measured, in cycles of 1 ns."""
    rng = np.random.default_rng(0)
    small, out = rng.random(8, np.float32), np.empty(8, np.float32)
    call_s = best_s(lambda: np.add(small, small, out=out), 3000)
    weights = [rng.random((224, 672), np.float32) for _ in range(32)]  # 19 MB: as a voice, no cache holds it
    rows, product = rng.random((3, 224), np.float32), np.empty((3, 672), np.float32)
    product_s = best_s(lambda: [np.matmul(rows, w, out=product) for w in weights], 3) / len(weights) - call_s
    long, result = rng.random(4096, np.float32), np.empty(4096, np.float32)
    element_s = best_s(lambda: np.exp(long, out=result), 300) / 4096 / 2  # exp is the slow half of the steps
    loop_s = best_s(lambda: sum(1 for _ in range(10_000)), 3) / (10_000 * 6)
    rate = 2 * 3 * weights[0].size / product_s / 1e9
    everything = 1e12  # what was measured holds loading and packing
    return Core(
        "this machine",
        1e9,
        rate,
        1.0,
        everything,
        everything,
        everything,
        element_s * 1e9,
        call_s * 1e9,
        loop_s * 1e9,
    )


def row(work: Work, core: Core, share: float) -> str:
    parts = seconds(work, core, share)
    shares = "  ".join(f"{name} {value:.3f}" for name, value in parts.items())
    return f"{core.name:22} real-time factor {sum(parts.values()):.3f}   ({shares})"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--voice", default="default")
    options.add_argument("--chunk-ms", type=int, default=40)
    options.add_argument("--check", action="store_true", help="hold the model against this machine")
    args = options.parse_args()
    with stonechat.load(args.voice, sessions=1, lock=False) as voice:
        work = counted(voice, args.chunk_ms)
        print(f"counted per second of speech, {args.chunk_ms} ms chunks:")
        print(f"  {work.flops / 1e6:.0f} MFLOP and {work.weight_bytes / 1e6:.0f} MB of weights in products,")
        print(f"  {work.elements / 1e6:.1f} million elements in other steps, {work.calls:.0f} numpy calls,")
        print(f"  {work.bytecodes / 1e3:.0f} thousand bytecodes")
        share = synthesis_share(voice, args.chunk_ms)
        print(f"  and a synthesis of sound that takes {share:.2f} of the engine's time")
        print("estimated, one core, nothing else running:")
        for core in CORES:
            print("  " + row(work, core, share))
        if args.check:
            print("measured figures of this machine, and what it really takes:")
            print("  " + row(work, this_machine(), share))
            print(f"  really                 real-time factor {speed(voice, TEXT).real_time_factor:.3f}")
    barred = sum(seconds(work, next(core for core in CORES if core.name == BARRED), share).values())
    print(f"{'held  ' if barred <= BAR else 'FAILED'}  {BARRED}: {barred:.3f}, the bar is {BAR}")
    return int(barred > BAR)


if __name__ == "__main__":
    raise SystemExit(main())
