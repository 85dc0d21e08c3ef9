"""Sound out: unit tests on a pretended device, and whole prompts recorded from a real PulseAudio sink."""

import contextlib
import functools
import shutil
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from stonechat.errors import AudioError
from stonechat.player import Doubler, Player, output_devices

RATE = 24000


def speech(seconds: float) -> np.ndarray:
    """Noise under 8 kHz: no stretch of it is like another, so an alignment is unique."""
    noise = np.random.default_rng(3).standard_normal(round(seconds * RATE))
    spectrum = np.fft.rfft(noise)
    spectrum[round(8000 * seconds) :] = 0
    sound = np.fft.irfft(spectrum, len(noise))
    return (0.7 * sound / np.abs(sound).max()).astype(np.float32)


# --- a pretended device: the test is the sound card's clock ------------------------------------------------


class PortAudioError(Exception):
    pass


class Stream:
    """Stands for sounddevice.OutputStream; `turn` is one interrupt of the card."""

    refused: frozenset[tuple[int, int]] = frozenset()

    def __init__(self, *, samplerate: int, blocksize: int, channels: int, callback: Any, **rest: Any) -> None:
        if rest["device"] == "none" or (samplerate, channels) in self.refused:
            raise PortAudioError("Invalid sample rate")
        self.callback, self.active, self.latency = callback, False, 0.0
        self.out = np.full((blocksize, channels), np.nan, np.float32)
        self.ok = SimpleNamespace(output_underflow=False)

    def start(self) -> None:
        self.active = True

    def stop(self) -> None:
        self.active = False

    def close(self) -> None: ...

    def turn(self, times: int = 1) -> np.ndarray:
        """What the card hears in so many turns, (frames, channels)."""
        heard = []
        for _ in range(times):
            self.callback(self.out, len(self.out), None, None)
            heard.append(self.out.copy())
        return np.concatenate(heard)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Stream]]:
    module: Any = ModuleType("sounddevice")
    module.PortAudioError, module.OutputStream = PortAudioError, Stream
    module.query_devices = lambda: [
        {"index": 0, "name": "mic", "max_output_channels": 0},
        {"index": 1, "name": "speaker", "max_output_channels": 2},
    ]
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    return Stream


@contextlib.contextmanager
def running(stream: Stream) -> Iterator[list[np.ndarray]]:
    """The card's clock in a thread of its own, faster than real time."""
    heard: list[np.ndarray] = []
    over = threading.Event()

    def clock() -> None:
        while not over.wait(0.0005):
            heard.append(stream.turn())

    thread = threading.Thread(target=clock)
    thread.start()
    try:
        yield heard
    finally:
        over.set()
        thread.join()


@pytest.mark.usefixtures("card")
def test_plays_every_sample_in_order_then_silence() -> None:
    sound = speech(1.03)
    with Player(lead_in_s=0) as player, running(player._stream) as heard:
        player.write(sound)
        player.drain()
    out = np.concatenate(heard)[:, 0]
    start = np.flatnonzero(out)[0]
    assert np.array_equal(out[start : start + len(sound)], sound)
    assert not out[start + len(sound) :].any()
    assert (player.stats.frames, player.stats.underruns) == (len(sound), 0)


@pytest.mark.usefixtures("card")
def test_lead_in_is_silence_and_loses_nothing() -> None:
    sound = speech(0.02)
    player = Player(lead_in_s=0.03)
    player.write(sound)
    out = player._stream.turn(5)[:, 0]
    assert not out[:720].any()
    assert np.array_equal(out[720:], sound)


@pytest.mark.usefixtures("card")
def test_underruns_count_only_inside_speech() -> None:
    player, sound = Player(lead_in_s=0), speech(0.02)
    turn = player._stream.turn
    turn(3)  # nothing said yet
    player.write(sound)
    turn(2)
    assert player.stats.underruns == 0
    turn(4)  # one gap, however long
    assert player.stats.underruns == 1
    player.write(sound)
    turn(2)
    player._ending = True  # drain's mark
    turn(4)
    assert player.stats.underruns == 1
    assert not player._ending
    player.write(sound[:100])  # a block that is not full is a gap too, if speech goes on
    assert np.array_equal(turn()[:100, 0], sound[:100])
    assert player.stats.underruns == 2


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("queued", [0, 50, 120, 4000])
def test_stop_fades_and_drops_the_rest(queued: int) -> None:
    player = Player(lead_in_s=0)
    player.write(np.ones(queued, np.float32))
    player._stopping = True
    out = player._stream.turn(2)[:, 0]
    n = min(queued, 120)
    assert out[:n] == pytest.approx(1 - np.arange(n) / max(n, 1), abs=1e-6)
    assert not out[n:].any()
    assert player.ring.readable == 0
    with running(player._stream):
        player.stop()
    assert player.stats.underruns == 0


@pytest.mark.usefixtures("card")
def test_late_callbacks_are_counted() -> None:
    player = Player()
    player._callback(player._stream.out, 240, None, SimpleNamespace(output_underflow=True))
    assert player.stats.late == 1


def test_falls_back_to_stereo_and_to_twice_the_rate(
    card: type[Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "refused", {(RATE, 1)})
    player = Player(lead_in_s=0)
    player.write(speech(0.01))
    out = player._stream.turn()
    assert out.shape == (240, 2)
    assert np.array_equal(out[:, 0], speech(0.01))
    assert np.array_equal(out[:, 0], out[:, 1])
    monkeypatch.setattr(card, "refused", {(RATE, 1), (RATE, 2), (2 * RATE, 1)})
    player = Player(lead_in_s=0)
    assert player.device_rate == 48000
    assert player._stream.turn().shape == (480, 2)


@pytest.mark.usefixtures("card")
def test_refusals_name_the_devices_and_the_remedy() -> None:
    assert output_devices() == ["1: speaker"]
    with pytest.raises(AudioError, match=r"(?s)'none': Invalid sample rate.*1: speaker.*-o file\.wav"):
        Player(device="none")


def test_device_that_does_not_start(card: type[Stream], monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(stream: Stream) -> None:
        raise PortAudioError("Device busy")

    monkeypatch.setattr(card, "start", busy)
    with pytest.raises(AudioError, match="Device busy"):
        Player()


def test_missing_portaudio_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(AudioError, match=r"apt install libportaudio2.*-o file\.wav"):
        Player()


@pytest.mark.usefixtures("card")
def test_device_that_vanishes_is_an_error_not_a_hang() -> None:
    player = Player()
    player._stream.active = False
    for call in (player.drain, player.stop, lambda: player.write(speech(1))):
        with pytest.raises(AudioError, match="gone"):
            call()


@pytest.mark.usefixtures("card")
def test_closing_the_ring_frees_a_sleeping_writer() -> None:
    player = Player()
    writer = threading.Thread(target=player.write, args=(speech(5),))
    writer.start()
    player.ring.close()
    writer.join(30)
    assert not writer.is_alive()


@pytest.mark.parametrize("refused", [set(), {(RATE, 1), (RATE, 2)}])
def test_callback_allocates_nothing_to_speak_of(
    card: type[Stream], monkeypatch: pytest.MonkeyPatch, refused: set[tuple[int, int]]
) -> None:
    monkeypatch.setattr(card, "refused", refused)
    player = Player(lead_in_s=0)
    player.write(speech(0.1))
    stream = player._stream
    player._callback(stream.out, len(stream.out), None, None)
    tracemalloc.start()
    for _ in range(5):
        player._callback(stream.out, len(stream.out), None, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2048


# --- twice the rate ----------------------------------------------------------------------------------------


def doubled(samples: np.ndarray, block: int) -> np.ndarray:
    double, out = Doubler(block), np.empty(2 * len(samples), np.float32)
    for start in range(0, len(samples), block):
        part = samples[start : start + block]
        double(part, out[2 * start : 2 * (start + len(part))])
    return out


@pytest.mark.parametrize("frequency_hz", [100, 1000, 5000, 10900])
def test_doubler_keeps_tones(frequency_hz: int) -> None:
    tone = np.sin(2 * np.pi * frequency_hz * np.arange(4800) / RATE).astype(np.float32)
    wanted = np.sin(2 * np.pi * frequency_hz * (np.arange(9600) - 64) / 48000)
    assert np.abs(doubled(tone, 240) - wanted)[200:].max() < 1e-3


def test_doubler_makes_no_images() -> None:
    tone = np.sin(2 * np.pi * 10500 * np.arange(24000) / RATE).astype(np.float32)
    out = doubled(tone, 240)[1000:-1000] * np.blackman(46000)
    level = np.abs(np.fft.rfft(out))
    image = round(13500 * 46000 / 48000)
    assert 20 * np.log10(level[image - 50 : image + 50].max() / level.max()) < -75


def test_doubler_is_the_same_in_any_blocks() -> None:
    sound = speech(0.1)
    assert np.allclose(doubled(sound, 240), doubled(sound, 7), atol=1e-6)


# --- a real server -----------------------------------------------------------------------------------------

needs_pulse = pytest.mark.skipif(
    not all(map(shutil.which, ("pulseaudio", "parec"))), reason="needs pulseaudio and pulseaudio-utils"
)


@dataclass
class Pulse:
    """A PulseAudio server of the test's own, its only sink going nowhere."""

    server: subprocess.Popen[bytes]
    sd: Any

    @contextlib.contextmanager
    def recording(self) -> Iterator[list[np.ndarray]]:
        """Collects what the sink plays, (frames,) at 48 kHz, ready when the context ends."""
        command = ["parec", "-d", "nul.monitor", "--format=float32le", "--channels=1", "--rate=48000"]
        heard: list[np.ndarray] = []
        with subprocess.Popen([*command, "--latency-msec=20"], stdout=subprocess.PIPE) as parec:
            assert parec.stdout
            first = parec.stdout.read(4096)  # it is listening now
            chunks = [first]
            reader = threading.Thread(target=lambda: chunks.append(parec.stdout.read()))
            reader.start()
            yield heard
            time.sleep(0.3)
            parec.terminate()
            reader.join()
        data = b"".join(chunks)
        heard.append(np.frombuffer(data[: len(data) // 4 * 4], "<f4"))


@pytest.fixture
def pulse(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pulse]:
    home = tmp_path_factory.mktemp("pulse")
    for name in ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.delenv("PULSE_SERVER", raising=False)
    server = subprocess.Popen(
        [
            *("pulseaudio", "-n", "--exit-idle-time=-1", "--daemonize=no"),
            *("-L", "module-native-protocol-unix"),
            *("-L", "module-null-sink sink_name=nul rate=48000 channels=2"),
        ],
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(home / "pulse" / "native")
        try:
            import sounddevice as sd
        except OSError:
            pytest.skip("needs libportaudio2")
        sd._terminate()
        sd._initialize()  # looks for devices anew
        if not any(device["name"] == "pulse" for device in sd.query_devices()):
            pytest.skip("needs libasound2-plugins")
        yield Pulse(server, sd)
        sd._terminate()
        sd._initialize()
    finally:
        server.kill()
        server.wait()


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        if time.monotonic() > deadline:
            pytest.skip("pulseaudio does not start here")
        time.sleep(0.05)


def similarity(heard: np.ndarray, said: np.ndarray) -> float:
    """Correlation of `heard` (48 kHz) and `said` (24 kHz) at the best alignment: 1 where nothing lacks."""
    n = 1 << (len(heard) + 2 * len(said)).bit_length()
    sparse = np.zeros(2 * len(said))
    sparse[::2] = said
    cross = np.fft.irfft(np.fft.rfft(heard, n) * np.conj(np.fft.rfft(sparse, n)), n)[: len(heard)]
    piece = heard[int(np.argmax(cross)) :: 2][: len(said)]
    assert len(piece) == len(said), "the end was cut"
    return float(piece @ said / np.linalg.norm(piece) / np.linalg.norm(said))


def say(player: Player, sound: np.ndarray) -> None:
    for start in range(0, len(sound), 960):
        player.write(sound[start : start + 960])
    player.drain()


def skip_if_starved(player: Player) -> None:
    """A machine whose other work keeps the card's thread from running says nothing about the player."""
    if player.stats.late:
        pytest.skip(f"this machine is too busy for real time: {player.stats.late} blocks were late")


def three_tries(test: Callable[..., None]) -> Callable[..., None]:
    """Real time on a shared machine: one undisturbed run of three proves the player."""

    @functools.wraps(test)
    def tried(*args: Any, **options: Any) -> None:
        for _ in range(2):
            with contextlib.suppress(AssertionError):
                return test(*args, **options)
        return test(*args, **options)

    return tried


@needs_pulse
@three_tries
def test_what_is_recorded_is_what_was_played(pulse: Pulse) -> None:
    """Two prompts through one stream; each whole, the pause between them silent."""
    first, second = speech(0.8), speech(0.8)[::-1].copy()
    with pulse.recording() as heard, Player(device="pulse") as player:
        assert player.device_rate == RATE
        say(player, first)
        say(player, second)
    skip_if_starved(player)
    assert similarity(heard[0], first) > 0.999
    assert similarity(heard[0], second) > 0.999
    assert player.stats.frames == 2 * len(first)
    assert player.stats.underruns == 0


@needs_pulse
@three_tries
def test_twice_the_rate_is_heard_the_same(pulse: Pulse, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pulse.sd.OutputStream

    def refusing(**options: Any) -> Any:
        if options["samplerate"] == RATE:
            raise pulse.sd.PortAudioError("Invalid sample rate")
        return real(**options)

    monkeypatch.setattr(pulse.sd, "OutputStream", refusing)
    sound = speech(0.6)
    with pulse.recording() as heard, Player(device="pulse") as player:
        assert player.device_rate == 48000
        say(player, sound)
    skip_if_starved(player)
    assert similarity(heard[0], sound) > 0.999


@needs_pulse
def test_unknown_device_lists_the_known(pulse: Pulse) -> None:
    with pytest.raises(AudioError, match=r"(?s)no such thing.*: pulse.*-o file\.wav"):
        Player(device="no such thing")


@needs_pulse
def test_server_that_dies_does_not_hang_the_writer(pulse: Pulse) -> None:
    player = Player(device="pulse")
    player.write(speech(0.1))
    pulse.server.kill()
    pulse.server.wait()
    with pytest.raises(AudioError, match="gone"):
        player.write(speech(20))
    player.close()
