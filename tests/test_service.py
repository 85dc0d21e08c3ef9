"""What the service says to systemd, and the units that start it."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from stonechat import serve_install
from stonechat.cli import main
from stonechat.errors import OptionError, StonechatError
from stonechat.serve import Service
from stonechat.serve_install import install, unit_folder, units
from stonechat.serve_queue import PromptQueue
from stonechat.serve_systemd import Notifier, listening_sockets

TINY = Path(__file__).parent / "data" / "tiny_voice"
analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    """The service manager's end of NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(str(tmp_path / "notify"))
        end.settimeout(60)
        yield end


def environment(manager: socket.socket, **more: str) -> dict[str, str]:
    return {"NOTIFY_SOCKET": manager.getsockname(), **more}


def test_messages_to_the_manager(manager: socket.socket) -> None:
    notifier = Notifier(environment(manager))
    notifier.ready("all well")
    notifier.alive()
    notifier.stopping()
    assert [manager.recv(999) for _ in range(3)] == [
        b"READY=1\nSTATUS=all well",
        b"WATCHDOG=1",
        b"STOPPING=1",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets are Linux's")
def test_an_abstract_address() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(f"\0stonechat-test-{os.getpid()}")
        Notifier({"NOTIFY_SOCKET": f"@stonechat-test-{os.getpid()}"}).alive()
        assert end.recv(99) == b"WATCHDOG=1"


def test_nobody_listening_is_no_error(tmp_path: Path) -> None:
    Notifier({}).ready("x")
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "nowhere")}).ready("x")


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_watchdog_only_for_this_process(given: dict[str, str], seconds: float | None) -> None:
    assert Notifier(given).watchdog_s == seconds


def test_the_watchdog_is_fed_only_by_progress(manager: socket.socket) -> None:
    speaker = SimpleNamespace(queue=PromptQueue(), progress=lambda: now[0])
    now = [(0, 0)]
    service = Service([], speaker, "assistant", Notifier(environment(manager)))
    manager.setblocking(False)
    for progress, fed in (
        ((0, 0), True),
        ((0, 0), False),
        ((0, 960), True),
        ((1, 960), True),
        ((1, 960), False),
    ):
        now[0] = progress
        service._feed()
        try:
            assert (manager.recv(99) == b"WATCHDOG=1") == fed
        except BlockingIOError:
            assert not fed
    service._close()


def test_sockets_meant_for_another_process_are_left_alone() -> None:
    given = {"LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "a", "OTHER": "1"}
    assert listening_sockets(given) == []
    assert given == {"OTHER": "1"}
    assert listening_sockets({}) == []
    assert listening_sockets({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "many"}) == []


ACTIVATED = """
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1]); server.listen()
os.dup2(server.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.executable, [sys.executable, "-m", "stonechat", "serve", "--no-lock", "--model", sys.argv[2]])
"""


def test_the_service_from_start_to_end(manager: socket.socket, tmp_path: Path) -> None:
    """A process of its own, as systemd starts it; without a sound device, which it can bear."""
    path = tmp_path / "s.sock"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSE")}
    given = environment(manager, XDG_CACHE_HOME=str(tmp_path), WATCHDOG_USEC="400000")
    (tmp_path / "sounddevice.py").write_text("raise OSError('no PortAudio')")
    given["PYTHONPATH"] = str(tmp_path)
    command = [sys.executable, "-c", ACTIVATED, str(path), str(TINY)]
    child = subprocess.Popen(command, env={**clean, **given}, stderr=subprocess.PIPE, text=True)
    try:
        heard = b""
        while not heard.startswith(b"READY=1"):
            heard = manager.recv(999)
        assert manager.recv(99) == b"WATCHDOG=1"
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(str(path))
            client.sendall(b'{"status": true}\nhello\n')
            lines = client.makefile("rb")
            assert json.loads(lines.readline())["event"] == "status"
            assert json.loads(lines.readline())["event"] == "queued"
            assert json.loads(lines.readline())["event"] == "error"
            child.terminate()
            assert child.wait(60) == 0
    finally:
        child.kill()
        _, told = child.communicate()
    assert "Traceback" not in told
    assert told.count("no PortAudio") == 1


def test_wrong_calls_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--role", "karaoke"]) == 2
    assert main(["serve", "--socket", str(tmp_path / "none" / "s")]) == 2
    told = capsys.readouterr().err
    assert "navigation" in told
    assert "--socket" in told
    assert main(["install-service", "--dry-run", "--role", "karaoke"]) == 2


@pytest.mark.parametrize("user", [False, True])
def test_units_name_this_installation(user: bool) -> None:
    made = units(user, "navigation")
    service = made["stonechat.service"]
    assert f"ExecStart={sys.executable} -m stonechat serve --role navigation\n" in service
    assert "{" not in service
    for line in ("Type=notify", "LimitMEMLOCK=infinity", "NoNewPrivileges=yes", "WatchdogSec=30"):
        assert line in service.splitlines()
    assert "ListenStream=" in made["stonechat.socket"]
    if not user:
        assert "ProtectSystem=strict" in service.splitlines()
        assert "PrivateNetwork=yes" in service.splitlines()


def test_odd_paths_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my apps/50%/python")
    assert 'ExecStart="/my apps/50%%/python" -m' in units(False)["stonechat.service"]
    with pytest.raises(OptionError):
        units(False, "karaoke")


@analyze
@pytest.mark.parametrize("user", [False, True])
def test_systemd_finds_no_fault(user: bool, tmp_path: Path) -> None:
    files = []
    for name, text in units(user).items():
        (tmp_path / name).write_text(text)
        files.append(str(tmp_path / name))
    command = ["systemd-analyze", "verify", "--man=no", *(["--user"] if user else []), *files]
    clean = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@analyze
def test_systemd_calls_it_safe(tmp_path: Path) -> None:
    """Exposure of at most 2.0 of 10; systemd calls up to 2.0 "OK", and most of what it starts is above 9."""
    unit = tmp_path / "stonechat.service"
    unit.write_text(units(False)["stonechat.service"])
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze is older than 250")
    assert done.returncode == 0, done.stdout + done.stderr


def test_install_writes_enables_and_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    ran: list[list[str]] = []
    monkeypatch.setattr(serve_install, "_run", ran.append)
    for runs in (False, True):
        monkeypatch.setattr(serve_install, "_systemd_runs", lambda runs=runs: runs)
        told = "\n".join(install(units(True), user=True))
        assert (tmp_path / "config/systemd/user/stonechat.service").read_text() == units(True)[
            "stonechat.service"
        ]
        assert "systemctl --user enable --now" in told
        assert "enable-linger" in told
        assert bool(ran) == runs
    assert ran[0] == ["systemctl", "--user", "daemon-reload"]


def test_install_that_may_not_write_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(serve_install, "SYSTEM_FOLDER", tmp_path / "file")
    assert unit_folder(user=False) == tmp_path / "file"
    with pytest.raises(StonechatError, match="sudo"):
        install(units(False), user=False)


def test_systemctl_that_fails_is_told() -> None:
    with pytest.raises(StonechatError, match="no such thing"):
        serve_install._run([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_dry_run_prints_the_units(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["install-service", "--user", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "# stonechat.service\n[Unit]" in out
    assert "# stonechat.socket\n[Unit]" in out


def test_the_container_file_names_what_is_there() -> None:
    folder = Path(__file__).parent.parent / "platforms" / "container"
    text = (folder / "Dockerfile").read_text("utf8")
    assert "stonechat" in text
    assert "memlock" in (folder / "README.md").read_text("utf8")
