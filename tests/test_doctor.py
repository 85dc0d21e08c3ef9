"""The doctor's findings on this machine and on pictures of worse ones."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from stonechat import doctor, doctor_system, player
from stonechat.cli import main
from stonechat.doctor import examine
from stonechat.errors import AudioError
from stonechat.findings import Finding, judged, to_json, to_text
from stonechat.platforms import AudioDefaults, Health, MemoryRoom, Outcome, current

TINY = str(Path(__file__).parent / "data" / "tiny_voice")


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes this machine's platform answer otherwise."""
    module = current()
    assert isinstance(module, ModuleType)

    def answers(**named: object) -> None:
        for name, answer in named.items():
            monkeypatch.setattr(module, name, lambda *_, answer=answer: answer)

    return answers


def test_every_finding_of_this_machine_has_a_verdict_and_a_remedy() -> None:
    findings = examine(TINY, quick=True)
    topics = [f.topic for f in findings]
    assert len(set(topics)) == len(topics)
    wanted = {
        "board",
        "BLAS",
        "lockable memory",
        "real-time scheduling",
        "voice",
        "memory pool",
        "sound devices",
    }
    assert wanted <= set(topics)
    for finding in findings:
        assert finding.verdict in ("ok", "warn", "fail")
        assert bool(finding.remedy) == (finding.verdict != "ok"), finding


def test_measured_figures_of_the_tiny_voice() -> None:
    by_topic = {f.topic: f for f in examine(TINY)}
    assert 0 < (by_topic["real-time factor"].value or 0) < 10
    assert 0 < (by_topic["first sound"].value or 0) < 10
    assert 0 < (by_topic["start of a process"].value or 0) < 60


def test_json_is_the_findings(capsys: pytest.CaptureFixture[str]) -> None:
    failed = False
    try:
        assert main(["doctor", "--quick", "--json", "--model", TINY]) == 0
    except SystemExit as ended:
        failed = ended.code == 1
    rows = json.loads(capsys.readouterr().out)
    assert failed == any(
        row["verdict"] == "fail" for row in rows
    )  # as it may where other tests hold much memory
    assert rows[0].keys() == {"topic", "verdict", "fact", "remedy", "value"}
    assert "weights" in next(row["fact"] for row in rows if row["topic"] == "memory pool")


def test_a_missing_voice_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--quick", "--model", "nowhere"])
    assert ended.value.code == 1
    assert "FAIL  voice" in capsys.readouterr().out


def test_text_shows_remedies_below() -> None:
    text = to_text([Finding("a", "ok", "fine\nmore"), Finding("b", "fail", "bad", "mend it")])
    assert text.split("\n")[1].strip() == "more"
    assert "FAIL  b" in text
    assert text.split("\n")[-1].strip() == "-> mend it"
    assert json.loads(to_json([Finding("a", "ok", "ä", value=2)]))[0] == {
        "topic": "a",
        "verdict": "ok",
        "fact": "ä",
        "remedy": "",
        "value": 2,
    }


@pytest.mark.parametrize(("value", "verdict"), [(0.1, "ok"), (0.5, "warn"), (0.8, "warn"), (0.9, "fail")])
def test_numbers_are_judged(value: float, verdict: str) -> None:
    finding = judged("x", value, "", 0.5, 0.9, "slower")
    assert (finding.verdict, finding.remedy) == (verdict, "" if verdict == "ok" else "slower")


def test_a_hot_starved_board(board: Callable[..., None]) -> None:
    board(health=Health(81.0, "powersave", ("under-voltage: use a better supply",), ()))
    temperature, supply = doctor_system.temperature()
    assert (temperature.verdict, supply.verdict) == ("fail", "fail")
    assert (supply.fact, supply.remedy) == ("under-voltage (now)", "use a better supply")
    assert doctor_system.clock().verdict == "warn"
    board(health=Health(75.0, "performance", (), ("throttled: cool it",)))
    assert [f.verdict for f in doctor_system.temperature()] == ["warn", "warn"]
    assert doctor_system.clock().verdict == "ok"


def test_tight_containers(board: Callable[..., None]) -> None:
    verdicts = [doctor_system.memory(MemoryRoom(n << 20, 0, "/docker/1")).verdict for n in (256, 64, 32)]
    assert verdicts == ["ok", "warn", "fail"]
    assert [doctor_system.processor_share(share).verdict for share in (None, 2, 0.5, 0.1)] == [
        *("ok", "ok", "warn", "fail")
    ]


def test_refusals_carry_the_platforms_remedy(board: Callable[..., None]) -> None:
    board(schedule_fifo=Outcome(False, "ulimit -r"), lock_memory=Outcome(False, "ulimit -l"), blas_threads=4)
    assert doctor_system.fifo().remedy == "ulimit -r"
    assert doctor_system.memlock().remedy == "ulimit -l"
    assert doctor_system.blas().verdict == "warn"


def test_real_time_share(tmp_path: Path) -> None:
    kernel = tmp_path / "proc/sys/kernel"
    kernel.mkdir(parents=True)
    assert doctor_system.real_time_share(tmp_path).verdict == "ok"
    (kernel / "sched_rt_period_us").write_text("1000000\n")
    for runtime, verdict in (("950000", "ok"), ("-1", "ok"), ("10000", "warn")):
        (kernel / "sched_rt_runtime_us").write_text(runtime)
        assert doctor_system.real_time_share(tmp_path).verdict == verdict


def test_sound_devices(board: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    board(audio=AudioDefaults("bcm2835 Headphones", why="the headphone jack"))
    monkeypatch.setattr(player, "output_devices", lambda: ["0: bcm2835 Headphones"])
    (finding,) = doctor.sound_findings()
    assert finding.verdict == "ok"
    assert "the headphone jack" in finding.fact
    monkeypatch.setattr(player, "output_devices", list)
    assert next(doctor.sound_findings()).verdict == "warn"

    def broken() -> list[str]:
        raise AudioError("apt install libportaudio2")

    monkeypatch.setattr(player, "output_devices", broken)
    assert "libportaudio2" in next(doctor.sound_findings()).remedy
