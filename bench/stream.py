"""Streaming figures of a voice: real-time factor, time to the first sound, memory, steps a chunk.

    python bench/stream.py [--voice default] [--engine numpy]

Everything is measured on this machine in one run, one BLAS thread. Real-time factor counts wall time and, beside it,
processor time of all threads, per second of sound. First sound: from the call to the first chunk, warm.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402
import stonechat  # noqa: E402

SHORT = (
    *(
        "前方三百米右转。",
        "进入中山路。",
        "您已偏航。",
        "请系好安全带。",
        "今天晴，二十六度。",
        "有新的消息。",
        "电量不足。",
    ),
    *(
        "请在路口掉头。",
        "目的地在您的左侧。",
        "正在为您查询。",
        "音量已调高。",
        "好的。",
        "左转。",
        "到达终点。",
    ),
    *(
        "前方有测速摄像。",
        "请靠右行驶。",
        "会议三点开始。",
        "门已打开。",
        "请取票。",
        "欢迎光临。",
        "谢谢使用。",
        "请稍候。",
    ),
    *("前方拥堵两公里。", "已连接蓝牙。", "请说话。"),
    *(
        "Turn left.",
        "Turn right now.",
        "Keep straight.",
        "Route found.",
        "Speed limit 30.",
        "You have arrived.",
    ),
    *(
        "Low battery.",
        "New message.",
        "Please wait.",
        "Thank you.",
        "Door is open.",
        "Take the exit.",
        "Merge left.",
    ),
    *("It is sunny.", "Call ended.", "Volume up.", "Good morning.", "Seat belt, please.", "Make a U-turn."),
    *("Slow down.", "At the light.", "Half a mile.", "Welcome home.", "Recalculating.", "Nearly there."),
)
PARAGRAPH = (
    "各位乘客请注意，由于前方路段正在施工，本次列车将晚点大约十五分钟，我们对此给您带来的不便深表歉意。"
    "请您不要离开站台，注意听从工作人员的安排，看管好随身携带的行李和儿童。需要改签或者退票的乘客，可以到二楼服务台办理手续，"
    "也可以使用手机自助完成。候车室内提供免费的热水和无线网络，母婴室在东侧走廊尽头。"
) * 2


def first_sound_s(voice: stonechat.Voice, text: str) -> float:
    """Seconds from the call to the first chunk."""
    began = time.perf_counter()
    stream = voice.inference(text, stream=True)
    next(stream)
    taken = time.perf_counter() - began
    stream.close()
    return taken


def real_time_factor(voice: stonechat.Voice, text: str, **wishes: object) -> tuple[float, float, float]:
    """Wall and processor seconds per second of sound, and the seconds of sound."""
    wall, cpu = time.perf_counter(), time.process_time()
    samples = sum(len(c.samples) for c in voice.inference(text, stream=True, **wishes))
    sound = samples / voice.facts.rate_hz
    return (time.perf_counter() - wall) / sound, (time.process_time() - cpu) / sound, sound


def percentile_ms(seconds: list[float], q: float) -> float:
    return float(np.percentile(seconds, q) * 1000)


def first_sound_line(what: str, seconds: list[float]) -> str:
    p50, p95 = percentile_ms(seconds, 50), percentile_ms(seconds, 95)
    return f"first 40 ms, {what}: p50 {p50:.1f} ms, p95 {p95:.1f} ms"


def peak_of_say_mb() -> float:
    """Peak resident megabytes of a `stonechat say` process, as the kernel counts it."""
    command = [sys.executable, "-m", "stonechat", "say", "-o", os.devnull, PARAGRAPH[:120]]
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--voice", default="default")
    options.add_argument("--engine", default="numpy")
    args = options.parse_args()
    print(f"peak resident of `stonechat say`      {peak_of_say_mb():8.1f} MB")
    began = time.perf_counter()
    voice = stonechat.load(args.voice, engine=args.engine)
    print(f"load and warm-up                      {(time.perf_counter() - began) * 1000:8.1f} ms")
    first_sound_s(voice, PARAGRAPH)
    short = [first_sound_s(voice, text) for text in SHORT]
    long = [first_sound_s(voice, PARAGRAPH[i:]) for i in range(20)]
    print(first_sound_line(f"{len(SHORT)} short sentences", short))
    ratio = percentile_ms(long, 95) / percentile_ms(short, 95)
    print(first_sound_line(f"{len(PARAGRAPH)} characters", long) + f", x{ratio:.2f}")
    for name, wishes in (
        ("40 ms chunks", {}),
        ("40 ms, inline", {"inline": True}),
        ("1 s chunks", {"chunk_ms": 1000}),
    ):
        rows = [real_time_factor(voice, PARAGRAPH, **wishes) for _ in range(3)]
        wall, cpu, sound = min(rows)
        print(
            f"real-time factor, {name:<14} wall {wall:.4f}  processor {cpu:.4f}  over {sound:.1f} s of sound"
        )
    voice.close()


if __name__ == "__main__":
    main()
