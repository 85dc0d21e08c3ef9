"""The service: its queue, its protocol, its speaker; a voice that speaks into a fake device."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import stonechat
from stonechat.errors import AudioError, OptionError, StonechatError, TextError
from stonechat.serve import MAX_LINE, Service, listen, socket_path
from stonechat.serve_queue import MAX_WAITING, Prompt, PromptQueue, read_prompt
from stonechat.serve_speaker import Speaker
from stonechat.serve_systemd import Notifier

TINY = Path(__file__).parent / "data" / "tiny_voice"
PATIENCE_S = 30


def prompt(text: str = "x", told: list[Any] | None = None, **fields: Any) -> Prompt:
    tell = (lambda event: None) if told is None else told.append
    return read_prompt({"text": text, "id": text, **fields}, "p", "assistant", tell)


def spoken(queue: PromptQueue) -> list[str]:
    texts = []
    while taken := queue.take(0):
        texts.append(taken.text)
        queue.done()
    return texts


def test_the_more_urgent_first_and_else_in_order() -> None:
    queue = PromptQueue()
    for text, role in (
        ("a", "reading"),
        ("b", "assistant"),
        ("c", "assistant"),
        ("d", "emergency"),
        ("e", "reading"),
    ):
        queue.put(prompt(text, role=role))
    assert queue.waiting == 5
    assert spoken(queue) == ["d", "b", "c", "a", "e"]


def test_interrupting_as_the_role_says_or_the_caller() -> None:
    for fields, ended in (
        ({"role": "navigation"}, "interrupted"),
        ({"role": "assistant"}, ""),
        ({"role": "reading", "interrupt": True}, ""),  # never one that is as urgent or more
        ({"role": "navigation", "interrupt": False}, ""),
    ):
        queue = PromptQueue()
        queue.put(prompt("now", role="assistant"))
        now = queue.take(0)
        queue.put(prompt("next", **fields))
        assert now
        assert now.ended == ended


def test_stale_prompts_are_told_and_not_spoken() -> None:
    told: list[Any] = []
    queue = PromptQueue()
    queue.put(prompt("stale", told, expires_after=0.01))
    queue.put(prompt("fresh", told, expires_after=60))
    time.sleep(0.05)
    assert spoken(queue) == ["fresh"]
    assert told[2:] == [{"event": "expired", "id": "stale"}]


def test_cancel_by_id_and_all() -> None:
    told: list[Any] = []
    queue = PromptQueue()
    for text in "abc":
        queue.put(prompt(text, told))
    now = queue.take(0)
    assert queue.cancel("c") == 1
    assert told[3:] == [{"event": "cancelled", "id": "c"}]
    assert queue.cancel("nobody") == 0
    assert queue.cancel() == 2
    assert now
    assert now.ended == "cancelled"
    assert queue.waiting == 0


def test_a_full_queue_is_told() -> None:
    queue = PromptQueue()
    for i in range(MAX_WAITING):
        queue.put(prompt(str(i)))
    with pytest.raises(OptionError, match="waiting"):
        queue.put(prompt())


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({}, "text"),
        ({"text": 3}, "text"),
        ({"text": "x" * 30_000}, "at most"),
        ({"text": "x", "role": "karaoke"}, "navigation"),
        ({"text": "x", "id": ""}, "id"),
        ({"text": "x", "id": ["a"]}, "id"),
        ({"text": "x", "interrupt": 1}, "interrupt"),
        ({"text": "x", "expires_after": "soon"}, "expires_after"),
        ({"text": "x", "expires_after": -1}, "expires_after"),
        ({"text": "x", "expires_after": float("nan")}, "expires_after"),
        ({"text": "x", "speed": 9}, "speed"),
        ({"text": "x", "inline": True}, "inline"),
        ({"text": "x", "colour": "red"}, "colour"),
    ],
)
def test_wrong_requests_are_told(request_: dict[str, Any], says: str) -> None:
    with pytest.raises((OptionError, TextError), match=says):
        read_prompt(request_, "p", "assistant", lambda event: None)


class Device:
    """A player that plays as fast as it is written to, or waits at a gate."""

    def __init__(self) -> None:
        self.stats = SimpleNamespace(frames=0, underruns=0)
        self.calls: list[str] = []
        self.sound: list[np.ndarray] = []
        self.gate = threading.Event()
        self.gate.set()
        self.fault: Exception | None = None

    def write(self, samples: np.ndarray) -> None:
        self.gate.wait(PATIENCE_S)
        if self.fault:
            raise self.fault
        self.stats.frames += len(samples)
        self.sound.append(samples)

    def drain(self) -> None:
        self.calls.append("drain")

    def stop(self) -> None:
        self.calls.append("stop")

    def close(self) -> None:
        self.calls.append("close")


class Running:
    """A service in a thread of this process, and a client's end of its socket."""

    def __init__(
        self, voice: stonechat.Voice, path: Path, open_output: Callable[[], Any], notifier: Notifier
    ) -> None:
        self.path = path
        self.listening = listen(path)
        self.speaker = Speaker(voice, PromptQueue(), open_output)
        self.service = Service([self.listening.__enter__()], self.speaker, "assistant", notifier)
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.service.run()
        except StonechatError as error:
            self.error = error

    def connect(self) -> "Talk":
        return Talk(self.path)

    def end(self) -> None:
        self.service.stop()
        self.thread.join(PATIENCE_S)
        self.listening.__exit__(None, None, None)
        assert not self.thread.is_alive()


class Talk:
    """A client."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")

    def say(self, request: Any) -> None:
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        self.socket.sendall(line + b"\n")

    def hear(self) -> dict[str, Any]:
        return json.loads(self.file.readline())

    def hear_until(self, event: str, name: str) -> list[str]:
        """Events of that prompt, until one of them is `event`."""
        heard = []
        while True:
            answer = self.hear()
            if answer.get("id") == name:
                heard.append(answer["event"])
                if answer["event"] == event:
                    return heard

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.fixture(scope="module")
def voice() -> Iterator[stonechat.Voice]:
    with stonechat.load(TINY, sessions=2, lock=False, warm=False) as voice:
        yield voice


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def running(voice: stonechat.Voice, device: Device, tmp_path: Path) -> Iterator[Running]:
    running = Running(voice, tmp_path / "s.sock", lambda: device, Notifier({}))
    yield running
    device.gate.set()
    running.end()


@pytest.fixture
def talk(running: Running) -> Iterator[Talk]:
    talk = running.connect()
    yield talk
    talk.close()


def test_a_line_is_spoken_whole(talk: Talk, device: Device, voice: stonechat.Voice) -> None:
    talk.say("右转。Turn right.".encode())
    heard = talk.hear()
    assert heard == {"event": "queued", "id": "prompt-1"}
    assert talk.hear()["event"] == "started"
    done = talk.hear()
    expected = voice.inference("右转。Turn right.")[0]
    assert done == {"event": "done", "id": "prompt-1", "seconds": round(len(expected) / 24000, 3)}
    np.testing.assert_allclose(np.concatenate(device.sound), expected, atol=1e-4)
    assert device.calls == ["drain"]


def test_wishes_reach_the_voice(talk: Talk, device: Device, voice: stonechat.Voice) -> None:
    talk.say({"text": "你好。", "id": "a", "speed": 0.8, "seed": 5, "voice": "heart"})
    assert talk.hear_until("done", "a") == ["queued", "started", "done"]
    expected = voice.inference("你好。", speed=0.8, seed=5, voice="heart")[0]
    np.testing.assert_allclose(np.concatenate(device.sound), expected, atol=1e-4)


def test_an_urgent_prompt_cuts_in(talk: Talk, device: Device) -> None:
    device.gate.clear()
    talk.say({"text": "好。" * 50, "id": "long"})
    while talk.hear()["event"] != "started":
        pass
    talk.say({"text": "停。", "id": "urgent", "role": "emergency"})
    assert talk.hear() == {"event": "queued", "id": "urgent"}
    device.gate.set()
    cut = talk.hear()
    assert (cut["event"], cut["id"]) == ("interrupted", "long")
    assert cut["seconds"] <= 0.041  # within a chunk
    assert talk.hear_until("done", "urgent") == ["started", "done"]
    assert device.calls == ["stop", "drain"]


def test_cancel_status_and_their_answers(talk: Talk, device: Device, running: Running) -> None:
    device.gate.clear()
    for name in ("a", "b", "c"):
        talk.say({"text": "好。" * 50, "id": name})
    other = running.connect()
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        other.say({"status": True})
        status = other.hear()
        if status["speaking"] and status["waiting"] == 2:
            break
    assert status == {"event": "status", "speaking": "a", "waiting": 2, "spoken": 0}
    other.say({"cancel": "b"})
    assert other.hear() == {"event": "cancelling", "prompts": 1}
    other.say({"cancel": True})
    assert other.hear() == {"event": "cancelling", "prompts": 2}
    other.say({"cancel": 3})
    assert other.hear()["event"] == "error"
    device.gate.set()
    assert talk.hear_until("cancelled", "a")[-1] == "cancelled"
    assert device.calls == ["stop"]
    other.close()


@pytest.mark.parametrize(
    "line", [b'{"text": ', b"\xff\xfe", b'{"text": "x", "speed": 7}', b'{"nothing": 1}', b'{"text":null}']
)
def test_nonsense_is_answered_and_the_service_goes_on(talk: Talk, line: bytes) -> None:
    talk.say(line)
    assert talk.hear()["event"] == "error"
    talk.say(b"")  # an empty line is nothing
    talk.say({"text": "好。", "id": "a", "voice": "nobody"})
    assert talk.hear_until("error", "a") == ["queued", "started", "error"]
    talk.say({"text": "好。", "id": "b"})
    assert talk.hear_until("done", "b") == ["queued", "started", "done"]


def test_a_line_without_end_is_refused(talk: Talk) -> None:
    talk.socket.sendall(b"x" * (MAX_LINE + 1))
    assert "bytes" in talk.hear()["message"]
    assert talk.file.readline() == b""


def test_a_client_that_is_gone_or_deaf_stops_nobody(running: Running, device: Device, talk: Talk) -> None:
    gone = running.connect()
    gone.say("好。".encode())
    gone.close()
    half = running.connect()
    half.socket.sendall("好。".encode())  # no newline, then no more to come
    half.socket.shutdown(socket.SHUT_WR)
    assert half.hear_until("done", "prompt-2")[-1] == "done"
    assert half.file.readline() == b""  # hung up, when there is nothing left to tell
    half.close()
    talk.say({"text": "好。", "id": "mine"})
    assert talk.hear_until("done", "mine")[-1] == "done"


def test_a_device_that_comes_late_and_goes(
    voice: stonechat.Voice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices: list[Device] = []

    def open_output() -> Device:
        if not devices:
            raise AudioError("plug it in")
        return devices[-1]

    warned: list[str] = []
    monkeypatch.setattr(
        "stonechat.serve_speaker.warnings.warn", lambda message, **_: warned.append(str(message))
    )
    running = Running(voice, tmp_path / "s.sock", open_output, Notifier({}))
    talk = running.connect()
    talk.say({"text": "好。", "id": "a"})
    assert talk.hear_until("error", "a") == ["queued", "error"]
    assert "plug it in; it is tried again with every prompt" in warned
    devices.append(Device())
    talk.say({"text": "好。", "id": "b"})
    assert talk.hear_until("done", "b")[-1] == "done"
    devices[0].fault = AudioError("unplugged")
    talk.say({"text": "好。", "id": "c"})
    assert talk.hear_until("error", "c")[-1] == "error"
    devices.append(Device())
    talk.say({"text": "好。", "id": "d"})
    assert talk.hear_until("done", "d")[-1] == "done"
    assert devices[0].calls[-1] == "close"
    talk.close()
    running.end()
    assert devices[1].calls[-1] == "close"


def test_a_speaker_that_dies_ends_the_service(
    voice: stonechat.Voice, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    device = Device()
    device.fault = RuntimeError("a fault of the program")
    running = Running(voice, tmp_path / "s.sock", lambda: device, Notifier({}))
    talk = running.connect()
    talk.say({"text": "好。", "id": "a"})
    running.thread.join(PATIENCE_S)
    talk.close()
    running.end()
    assert "speaking thread" in str(running.error)


def test_where_to_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    assert socket_path(None) == Path("/run/user/7/stonechat.sock")
    assert socket_path("/x/y") == Path("/x/y")
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/stonechat:/run/other")
    assert socket_path(None) == Path("/run/stonechat/stonechat.sock")
    monkeypatch.delenv("RUNTIME_DIRECTORY")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    with pytest.raises(OptionError, match="--socket"):
        socket_path(None)


def test_a_socket_left_behind_is_replaced_and_one_in_use_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    with listen(path):
        assert path.stat().st_mode & 0o777 == 0o660
        with pytest.raises(OptionError, match="another service"), listen(path):
            pass
    assert not path.exists()
    path.write_text("precious")
    with pytest.raises(OptionError, match="no socket"), listen(path):
        pass
    assert path.read_text() == "precious"
    with pytest.raises(OptionError, match="cannot listen"), listen(tmp_path / ("long" * 40)):
        pass
