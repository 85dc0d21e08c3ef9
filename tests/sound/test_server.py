"""Whole prompts through PulseAudio servers of the tests' own, recorded from the monitor of a sink that goes nowhere."""

import contextlib
import functools
import json
import os
import shutil
import signal
import threading
import time
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stonechat.cli import main
from stonechat.errors import AudioError
from stonechat.platforms import automotive
from stonechat.player import Player

RATE = 24000
PATIENCE_S = 30
Speech = Callable[[float], np.ndarray]
pytestmark = [
    pytest.mark.skipif(
        not all(map(shutil.which, ("pulseaudio", "pactl", "parec"))),
        reason="needs pulseaudio and pulseaudio-utils",
    ),
    pytest.mark.filterwarnings("ignore:the sound device:RuntimeWarning"),
]


class LateError(Exception):
    """The machine's other work kept the sound thread from running: that says nothing about the player."""


def in_time(player: Player) -> None:
    if player.stats.late or player.stats.underruns:
        raise LateError(f"{player.stats}")


def three_tries(test: Callable[..., None]) -> Callable[..., None]:
    """Real time on a shared machine, whose server may come late too: one undisturbed run of three is proof."""

    @functools.wraps(test)
    def tried(**fixtures: Any) -> None:
        for _ in range(2):
            with contextlib.suppress(AssertionError, LateError):
                return test(**fixtures)
        try:
            test(**fixtures)
        except LateError as late:
            pytest.skip(f"this machine is too busy for real time: {late}")

    return tried


def say(player: Player, sound: np.ndarray) -> None:
    for start in range(0, len(sound), 960):
        player.write(sound[start : start + 960])
    player.drain()


def place(heard: np.ndarray, said: np.ndarray) -> int:
    """Where `said` begins in `heard`, at the best alignment; AssertionError where its end was cut."""
    n = 1 << (len(heard) + len(said)).bit_length()
    cross = np.fft.irfft(np.fft.rfft(heard, n) * np.conj(np.fft.rfft(said, n)), n)[: len(heard)]
    at = int(np.argmax(cross))
    assert at + len(said) <= len(heard), "the end was cut"
    return at


@three_tries
def test_what_is_recorded_is_what_was_played(pulse: Any, speech: Speech) -> None:
    """Two prompts through one stream, sample for sample, and silence around them."""
    first, second = speech(0.8), speech(0.8)[::-1].copy()
    with pulse.recording() as heard, Player(device="pulse") as player:
        say(player, first)
        say(player, second)
    in_time(player)
    out = heard[0][:, 0]
    one, two = place(out, first), place(out, second)
    assert np.array_equal(out[one : one + len(first)], first)
    assert np.array_equal(out[two : two + len(second)], second)
    assert not out[:one].any()
    assert not out[one + len(first) + 120 : two].any()
    assert not out[two + len(second) + 120 :].any()
    assert (player.device_rate, player.channels) == (RATE, 1)
    assert player.stats.frames == 2 * len(first)


@three_tries
def test_drained_means_recorded_to_the_last_sample(pulse: Any, speech: Speech) -> None:
    """The device is given back, the recorder ended, the moment `drain` returns."""
    recording, sound = pulse.record(), speech(0.5)
    with Player(device="pulse") as player:
        say(player, sound)
    out = recording.end()[:, 0]
    in_time(player)
    at = place(out, sound)
    assert np.array_equal(out[at : at + len(sound)], sound)


def converted(sound: np.ndarray, rate: int) -> np.ndarray:
    """By Fourier's series, 32 samples late as the player's filter is."""
    padded = np.append(sound, np.zeros(240))
    spectrum = np.fft.rfft(padded) * np.exp(-2j * np.pi * 32 * np.fft.rfftfreq(len(padded)))
    return np.fft.irfft(spectrum, len(padded) * rate // RATE) * rate / RATE


@three_tries
@pytest.mark.parametrize(("rate", "channels"), [(48000, 2), (48000, 1), (44100, 2), (RATE, 2)])
def test_cards_of_one_format(
    pulse: Any, speech: Speech, monkeypatch: pytest.MonkeyPatch, rate: int, channels: int
) -> None:
    """PulseAudio takes any format, so PortAudio refuses here what such a card would; the sink has the card's own."""
    import sounddevice as sd

    real = sd.OutputStream

    def only(**options: Any) -> Any:
        if (options["samplerate"], options["channels"]) != (rate, channels):
            raise sd.PortAudioError("Invalid sample rate", -9997)
        return real(**options)

    monkeypatch.setattr(sd, "OutputStream", only)
    pulse.remove_sink()
    pulse.add_sink(rate, channels)
    sound = speech(0.6)
    with pulse.recording() as heard, Player(device="pulse") as player:
        say(player, sound)
    in_time(player)
    wanted = sound if rate == RATE else converted(sound, rate)
    out = heard[0]
    at = place(out[:, 0], wanted)
    piece = out[at : at + len(wanted), 0]
    assert (player.device_rate, player.channels) == (rate, channels)
    inner = slice(rate // 50, -rate // 50)  # it begins and ends with a step
    assert np.abs(piece - wanted)[inner].max() < 1e-3
    assert all(np.array_equal(out[:, 0], out[:, channel]) for channel in range(channels))


@pytest.mark.parametrize("silence_s", [3, pytest.param(60, marks=pytest.mark.slow)])
@three_tries
def test_the_first_word_after_long_silence_is_whole(pulse: Any, speech: Speech, silence_s: float) -> None:
    """Under a server that puts sinks to sleep: ours stays awake."""
    pulse.tell("load-module", "module-suspend-on-idle", "timeout=1")
    sound = speech(0.5)
    with Player(device="pulse") as player:
        say(player, sound)
        time.sleep(silence_s)
        assert "RUNNING" in pulse.tell("list", "short", "sinks")
        with pulse.recording() as heard:
            say(player, sound)
    in_time(player)
    out = heard[0][:, 0]
    at = place(out, sound)
    assert np.array_equal(out[at : at + len(sound)], sound)
    assert not out[:at].any()


def speaking(player: Player, sound: np.ndarray) -> tuple[threading.Thread, list[Exception]]:
    faults: list[Exception] = []

    def speak() -> None:
        try:
            say(player, sound)
        except Exception as fault:
            faults.append(fault)

    thread = threading.Thread(target=speak)
    thread.start()
    return thread, faults


def lose(pulse: Any, how: str) -> None:
    if how == "sink":
        pulse.remove_sink()
    else:
        pulse.kill()


def bring_back(pulse: Any, how: str) -> None:
    if how == "server":
        pulse.start()
    pulse.add_sink()


@pytest.mark.parametrize("how", ["sink", "server"])
@three_tries
def test_speech_goes_on_when_the_sound_is_back(pulse: Any, speech: Speech, how: str) -> None:
    """Half way through its sink is removed, or its server killed: nothing of the sentence is lost for long."""
    sound = speech(4)
    if pulse.server.poll() is not None:
        pulse.start()
    before = pulse.record()
    with Player(device="pulse") as player:
        thread, faults = speaking(player, sound)
        while player.stats.frames < 2 * RATE:
            time.sleep(0.005)
        lose(pulse, how)
        first = before.end()[:, 0]
        time.sleep(0.7)
        assert thread.is_alive()
        bring_back(pulse, how)
        back = time.monotonic()
        while not player._plays() and time.monotonic() < back + 10:
            time.sleep(0.01)
        took = (
            time.monotonic() - back
        )  # a new null sink then waits for its first block, of 2 s; a card does not
        after = pulse.record()
        thread.join(30)
        time.sleep(0.1)
    rest = after.end()[:, 0]
    assert not faults
    assert player.stats.lost == 1
    in_time(player)
    head, tail = sound[: RATE // 2], sound[-RATE // 2 :]
    start, end = place(first, head), place(rest, tail) + len(tail)
    heard = first[start:]
    heard = heard[: np.flatnonzero(heard)[-1] + 1]
    assert np.array_equal(heard, sound[: len(heard)])
    begin = int(np.flatnonzero(rest)[0])
    went_on = len(sound) - (end - begin)  # the sample at which it went on
    assert np.array_equal(rest[begin + 120 : end], sound[went_on + 120 :])
    assert -0.15 < (went_on - len(heard)) / RATE < 0.15
    assert took < 2


def test_a_server_that_hangs_is_waited_for(pulse: Any, speech: Speech) -> None:
    with Player(device="pulse", patience_s=PATIENCE_S) as player:
        thread, faults = speaking(player, speech(1))
        while player.stats.frames < RATE // 2:
            time.sleep(0.005)
        pulse.server.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        assert thread.is_alive()
        pulse.server.send_signal(signal.SIGCONT)
        thread.join(30)
    assert not faults
    assert player.stats.frames == RATE


def test_the_server_hears_what_a_prompt_is_for(pulse: Any) -> None:
    with Player(device="pulse", environment=automotive.audio("navigation").environment):
        streams = json.loads(pulse.tell("--format=json", "list", "sink-inputs"))
    assert streams[0]["properties"]["media.role"] == "navigation"
    assert "PULSE_PROP" not in os.environ


def test_unknown_device_lists_the_known(pulse: Any) -> None:
    with pytest.raises(AudioError, match=r"(?s)no such thing.*: pulse.*-o file\.wav"):
        Player(device="no such thing")


def test_a_server_that_does_not_come_back_is_an_error_not_a_hang(pulse: Any, speech: Speech) -> None:
    with Player(device="pulse", patience_s=0.3) as player:
        player.write(speech(0.1))
        pulse.kill()
        with pytest.raises(AudioError, match="gone"):
            player.write(speech(20))


@three_tries
def test_the_command_plays_what_it_writes(
    pulse: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    voice = ["--model", str(Path(__file__).parents[1] / "data/tiny_voice")]
    with pulse.recording() as heard:
        assert main(["say", *voice, "--device", "pulse", "你好。"]) == 0
    told = capsys.readouterr().err
    if "broke off" in told:
        raise LateError(told)
    assert main(["say", *voice, "-o", str(tmp_path / "out.wav"), "你好。"]) == 0
    with wave.open(str(tmp_path / "out.wav")) as written:
        sound = np.frombuffer(written.readframes(written.getnframes()), "<i2") / 32768
    out = heard[0][:, 0]
    at = place(out, sound)
    assert np.abs(out[at : at + len(sound)] - sound).max() < 2 / 32768
    assert told == ""
