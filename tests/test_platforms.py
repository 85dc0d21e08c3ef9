"""The porting surface on this machine and on pictures of others."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from stonechat.errors import StonechatError
from stonechat.platforms import (
    FAMILIES,
    Health,
    MemoryRoom,
    Platform,
    automotive,
    choose,
    current,
    generic,
    raspberry,
)
from stonechat.platforms import linux as linux_calls
from stonechat.platforms.board import board, features, speaking_cpus
from stonechat.platforms.control_groups import memory_room, processor_share

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
    monkeypatch.setattr(linux_calls, "_has_capability", lambda bit: False)
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
        policies.append(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK)

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


def lay(root: Path, files: dict[str, str]) -> Path:
    """A file tree as a board's kernel would show it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


PI = {
    "proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0",
    "sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "sys/class/thermal/thermal_zone0/temp": "81234\n",
    "sys/class/thermal/thermal_zone1/type": "battery\n",
    "sys/class/thermal/thermal_zone1/temp": "99000\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "ondemand\n",
}
HEADPHONES = (
    " 0 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones\n                      bcm2835 Headphones\n"
)
HDMI = " 1 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0\n                      vc4-hdmi-0\n"
DAC = " 2 [sndrpihifiberry]: HifiberryDacp - snd_rpi_hifiberry_dacplus\n                      snd_rpi_hifiberry\n"
USB = " 3 [Device         ]: USB-Audio - USB PnP Sound Device\n                      C-Media\n"


def test_each_family_knows_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STONECHAT_PLATFORM", raising=False)
    assert choose(tmp_path) is generic
    assert choose(lay(tmp_path / "pi", PI)) is raspberry
    car = lay(tmp_path / "car", {"etc/os-release": 'ID="poky-agl"\nVERSION_ID="17.0"\n'})
    assert choose(car) is automotive
    desktop = lay(tmp_path / "pc", {"etc/os-release": 'ID=debian\nHOME_URL="https://automotive.example"\n'})
    assert choose(desktop) is generic
    monkeypatch.setenv("STONECHAT_PLATFORM", "raspberry")
    assert choose(tmp_path) is raspberry
    monkeypatch.setenv("STONECHAT_PLATFORM", "toaster")
    with pytest.raises(StonechatError, match="automotive, raspberry, generic"):
        choose(tmp_path)


def test_every_family_has_the_whole_surface() -> None:
    names = [name for name in vars(Platform) if not name.startswith("_")]
    assert len(names) > 12
    for module in FAMILIES.values():
        assert [name for name in names if not callable(getattr(module, name, None))] == []


def test_health_of_a_pi(tmp_path: Path) -> None:
    lay(tmp_path, {**PI, raspberry.FIRMWARE: "50005\n"})
    health = raspberry.health(tmp_path)
    assert (health.temperature_c, health.governor) == (81.234, "ondemand")
    assert [fault.split(":")[0] for fault in health.faults] == ["under-voltage", "throttled"]
    assert [fault.split(":")[0] for fault in health.past] == ["under-voltage", "throttled"]
    (tmp_path / raspberry.FIRMWARE).write_text("20000")
    assert raspberry.health(tmp_path).faults == ()
    assert raspberry.health(tmp_path).past[0].startswith("the clock is capped")


def test_health_of_a_pi_by_its_voltage_sensor(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {"sys/class/hwmon/hwmon0/name": "cpu_thermal\n", "sys/class/hwmon/hwmon1/name": "rpi_volt\n"},
    )
    lay(tmp_path, {"sys/class/hwmon/hwmon1/in0_lcrit_alarm": "1\n"})
    assert raspberry.health(tmp_path).faults[0].startswith("under-voltage")
    (tmp_path / "sys/class/hwmon/hwmon1/in0_lcrit_alarm").write_text("0")
    assert raspberry.health(tmp_path).faults == ()


def test_health_where_nothing_tells(tmp_path: Path) -> None:
    assert generic.health(tmp_path) == raspberry.health(tmp_path) == Health()


@pytest.mark.parametrize(
    ("cards", "device"),
    [
        (HEADPHONES + HDMI + DAC + USB, "snd_rpi_hifiberry_dacplus"),
        (HEADPHONES + HDMI + USB, "USB PnP Sound Device"),
        (HDMI + HEADPHONES, "bcm2835 Headphones"),
        (HDMI, "vc4-hdmi-0"),
        ("--- no soundcards ---\n", None),
        ("", None),
    ],
)
def test_way_out_of_a_pi(
    tmp_path: Path, cards: str, device: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PULSE_SERVER", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    lay(tmp_path, {"proc/asound/cards": cards})
    defaults = raspberry.audio(root=tmp_path)
    assert defaults.device == device
    assert defaults.lead_in_s == (0.8 if cards == HDMI else 0.05)
    lay(tmp_path, {"run/user/1000/pulse/native": ""})
    assert raspberry.audio(root=tmp_path).device is None


def test_roles_tell_the_sound_server_what_a_prompt_is_for() -> None:
    given = automotive.audio("navigation").environment
    assert "media.role=navigation" in given["PULSE_PROP"]
    assert 'media.role = "Navigation"' in given["PIPEWIRE_PROPS"]
    priorities = [role.priority for role in automotive.ROLES.values()]
    assert priorities == sorted(priorities, reverse=True)
    with pytest.raises(StonechatError, match="emergency, warning, navigation"):
        automotive.audio("karaoke")


def test_room_under_version_2_counts_every_group_above(tmp_path: Path) -> None:
    top = "sys/fs/cgroup"
    assert memory_room(tmp_path) is None
    files = {
        "proc/self/cgroup": "0::/system.slice/stonechat.service\n",
        f"{top}/cgroup.controllers": "memory cpu\n",
        f"{top}/system.slice/memory.max": "104857600\n",
        f"{top}/system.slice/memory.current": "94371840\n",
        f"{top}/system.slice/memory.stat": "anon 1\ninactive_file 1048576\n",
        f"{top}/system.slice/stonechat.service/memory.max": "max\n",
        f"{top}/system.slice/stonechat.service/memory.current": "1000\n",
        f"{top}/system.slice/cpu.max": "50000 100000\n",
        f"{top}/system.slice/stonechat.service/cpu.max": "max 100000\n",
    }
    room = memory_room(lay(tmp_path, files))
    assert room == MemoryRoom(104857600, 94371840 - 1048576, "/system.slice")
    assert room.free_bytes == 11 << 20
    assert processor_share(tmp_path) == 0.5


def test_room_under_version_1_and_in_a_container(tmp_path: Path) -> None:
    top = "sys/fs/cgroup"
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n",
        f"{top}/memory/memory.limit_in_bytes": "67108864\n",
        f"{top}/memory/memory.usage_in_bytes": "33554432\n",
        f"{top}/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 4194304\n",
        f"{top}/cpu/cpu.cfs_quota_us": "-1\n",
        f"{top}/cpu/cpu.cfs_period_us": "100000\n",
    }
    assert memory_room(lay(tmp_path, files)) == MemoryRoom(64 << 20, (32 << 20) - (4 << 20), "/")
    assert processor_share(tmp_path) is None
    (tmp_path / top / "memory/memory.limit_in_bytes").write_text("9223372036854771712")
    assert memory_room(tmp_path) is None


@linux
def test_lock_refused_in_a_tight_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux_calls, "_may_lock_all", lambda: True)
    monkeypatch.setattr(linux_calls, "memory_room", lambda: MemoryRoom(64 << 20, 40 << 20, "/docker/1"))
    outcome = current().lock_memory()
    assert not outcome
    assert "/docker/1 leaves 24 MiB" in outcome.remedy
    assert "--memory=" in outcome.remedy


@linux
def test_soft_limit_is_raised_where_the_hard_one_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    endless, asked = resource.RLIM_INFINITY, []
    monkeypatch.setattr("resource.getrlimit", lambda which: (8 << 20, endless))
    monkeypatch.setattr("resource.setrlimit", lambda which, pair: asked.append(pair))
    assert linux_calls._may_lock_all()
    assert asked == [(endless, endless)]


@linux
def test_processors_to_speak_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cpus = "sys/devices/system/cpu"
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    assert speaking_cpus(tmp_path) == (1, 2, 3)
    lay(tmp_path, {f"{cpus}/cpu{i}/cpu_capacity": "1024" if i > 1 else "446" for i in range(4)})
    assert speaking_cpus(tmp_path) == (2, 3)
    lay(tmp_path, {f"{cpus}/isolated": "3\n"})
    assert speaking_cpus(tmp_path) == (3,)
    (tmp_path / cpus / "isolated").write_text("7-9")
    assert speaking_cpus(tmp_path) == (2, 3)


def test_features_are_those_that_matter(tmp_path: Path) -> None:
    lay(tmp_path, {"proc/cpuinfo": "processor : 0\nFeatures\t: fp asimd crc32 asimddp\nCPU part\t: 0xd0b\n"})
    assert features(tmp_path) == ("asimd", "asimddp")


def test_heap_is_kept_where_the_c_library_can() -> None:
    code = "from stonechat.platforms import current; o = current().keep_heap(); print(bool(o), 'glibc' in o.remedy)"
    assert run(code) in ("True False", "False True")
