"""A sound that is nowhere like itself, a pretended sound card whose clock is the test, and real PulseAudio servers."""

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stonechat.errors import AudioError
from stonechat.player import Player

RATE = 24000


@pytest.fixture(scope="session")
def speech() -> Callable[[float], np.ndarray]:
    """Seconds to noise under 8 kHz, at 24 kHz: no stretch of it is like another, so an alignment is unique."""

    def make(seconds: float) -> np.ndarray:
        noise = np.random.default_rng(3).standard_normal(round(seconds * RATE))
        spectrum = np.fft.rfft(noise)
        spectrum[round(8000 * seconds) :] = 0
        sound = np.fft.irfft(spectrum, len(noise))
        return (0.7 * sound / np.abs(sound).max()).astype(np.float32)

    return make


class PortAudioError(Exception):
    pass


class Stream:
    """Stands for sounddevice.OutputStream; `turn` is one interrupt of the card."""

    closed = False
    latency = 0.0

    def __init__(
        self, card: "Card", *, samplerate: int, blocksize: int, channels: int, device: int, **rest: Any
    ):
        card.tried.append((samplerate, channels))
        if card.away:
            raise PortAudioError("Device unavailable", -9985)
        if (samplerate, channels) in card.refused:
            raise PortAudioError("Invalid sample rate", -9997)
        self.callback, self.finished_callback = rest["callback"], rest["finished_callback"]
        self.out = np.full((blocksize, channels), np.nan, np.float32)
        self.ok = SimpleNamespace(output_underflow=False)
        self.active = False
        self.card, self.device = card, device
        card.streams.append(self)

    def start(self) -> None:
        if self.card.busy:
            raise PortAudioError("Device busy", -9985)
        self.active = True

    def abort(self) -> None:
        self.active = False

    def close(self) -> None:
        self.closed = True

    def when(self) -> SimpleNamespace:
        return SimpleNamespace(currentTime=5.0, outputBufferDacTime=5.0 + self.card.delay_s)

    def turn(self, times: int = 1) -> np.ndarray:
        """What the card hears in so many turns, (frames, channels)."""
        heard = []
        for _ in range(times):
            self.callback(self.out, len(self.out), self.when(), self.ok)
            heard.append(self.out.copy())
        return np.concatenate(heard)

    @contextlib.contextmanager
    def running(self) -> Iterator[list[np.ndarray]]:
        """The card's clock in a thread of its own, faster than real time."""
        heard: list[np.ndarray] = []
        over = threading.Event()

        def clock() -> None:
            while self.active and not over.wait(0.0005):
                heard.append(self.turn())

        thread = threading.Thread(target=clock)
        thread.start()
        try:
            yield heard
        finally:
            over.set()
            thread.join()


class Card:
    """Stands for the module: one microphone and two outputs, of which "speaker" is the default."""

    def __init__(self) -> None:
        self.refused: set[tuple[int, int]] = set()
        self.away = self.busy = False
        self.delay_s = 0.0
        self.streams: list[Stream] = []
        self.tried: list[tuple[int, int]] = []
        self.names = ["mic", "speaker", "USB Audio: - (hw:1,0)"]
        self.looks = 0
        self.channels = 2
        module: Any = ModuleType("sounddevice")
        module.PortAudioError, module._StreamBase = PortAudioError, Stream
        module.OutputStream = lambda **options: Stream(self, **options)
        module.default = SimpleNamespace(device=(0, 1))
        module.query_devices = self.devices
        module._initialize = self.look
        module._terminate = lambda: None
        self.module = module

    def devices(self) -> list[dict[str, Any]]:
        return [
            {"index": i, "name": name, "max_output_channels": self.channels if i else 0}
            for i, name in enumerate(self.names)
        ]

    def look(self) -> None:
        self.looks += 1

    @property
    def stream(self) -> Stream:
        """The latest."""
        return self.streams[-1]

    def unplug(self) -> None:
        """As PortAudio does: the stream stops by itself and says so."""
        self.away = True
        self.stream.active = False
        self.stream.finished_callback()

    def wait_for_streams(self, count: int) -> Stream:
        """The last of so many, once it runs."""
        for _ in range(3000):
            if len(self.streams) >= count and self.stream.active:
                return self.stream
            threading.Event().wait(0.01)
        raise AssertionError(f"{len(self.streams)} streams were opened, not {count}")


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    made = Card()
    monkeypatch.setitem(sys.modules, "sounddevice", made.module)
    return made


# --- a real server ---


class Recording:
    """What a sink plays, as it was recorded to the end."""

    def __init__(self, rate: int, channels: int) -> None:
        command = ["parec", "--device=nul.monitor", "--format=float32le", f"--rate={rate}", "--raw"]
        self._parec = subprocess.Popen(
            [*command, f"--channels={channels}", "--latency-msec=20"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._parec.stdout
        self._channels, self._pipe = channels, self._parec.stdout
        self._parts = [self._pipe.read(4096)]  # it is listening now
        self._reader = threading.Thread(target=lambda: self._parts.append(self._pipe.read()))
        self._reader.start()

    def end(self) -> np.ndarray:
        """(frames, channels)."""
        self._parec.terminate()
        self._reader.join()
        self._parec.wait()
        self._pipe.close()
        data = b"".join(self._parts)
        frame = 4 * self._channels
        return np.frombuffer(data[: len(data) // frame * frame], "<f4").reshape(-1, self._channels)


class Pulse:
    """A server, its only sink named "nul"; both may be ended and begun again."""

    def __init__(self, home: Path) -> None:
        (home / "pulse").mkdir(exist_ok=True)
        (home / "pulse/client.conf").write_text("autospawn = no\n")
        self.start()

    def start(self) -> None:
        command = ["pulseaudio", "-n", "--exit-idle-time=-1", "--daemonize=no", "--use-pid-file=no"]
        self.server = subprocess.Popen(
            [*command, "-L", "module-native-protocol-unix"], stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 20
        while not self.tell("info", check=False):
            if time.monotonic() > deadline:
                pytest.skip("pulseaudio does not start here")
            time.sleep(0.02)

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()

    def tell(self, *words: str, check: bool = True) -> str:
        return subprocess.run(["pactl", *words], capture_output=True, check=check, text=True).stdout

    def add_sink(self, rate: int = RATE, channels: int = 1) -> None:
        facts = ("sink_name=nul", f"rate={rate}", f"channels={channels}", "format=float32le")
        self.sink = self.tell("load-module", "module-null-sink", *facts).strip()
        self.rate, self.channels = rate, channels

    def remove_sink(self) -> None:
        self.tell("unload-module", self.sink)

    def record(self) -> Recording:
        return Recording(self.rate, self.channels)

    @contextlib.contextmanager
    def recording(self) -> Iterator[list[np.ndarray]]:
        """What was recorded is in the list when the context ends."""
        heard: list[np.ndarray] = []
        recording = self.record()
        try:
            yield heard
            time.sleep(0.3)
        finally:
            heard.append(recording.end())


@pytest.fixture
def pulse(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pulse]:
    home = tmp_path_factory.mktemp("pulse")
    for name in ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(home))
    for name in ("PULSE_SERVER", "PULSE_SINK", "PULSE_PROP"):
        monkeypatch.delenv(name, raising=False)
    server = Pulse(home)
    try:
        server.add_sink()
        try:
            Player(device="pulse").close()  # looks for devices anew
        except AudioError as error:
            pytest.skip(f"needs libportaudio2 and libasound2-plugins: {error}")
        yield server
    finally:
        server.kill()
