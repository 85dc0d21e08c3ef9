"""A device to play on, through PortAudio: found by name, opened at a rate and with channels that it takes."""

import contextlib
import gc
import math
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import AudioError

_RATES_HZ = (48000, 44100, 96000, 88200, 192000, 176400, 32000, 16000, 8000)
_FORMAT_REFUSED = (-9994, -9997, -9998)  # PortAudio's sample format, sample rate, number of channels
_BLOCK_S, _LONGEST_BLOCK_S = 0.01, 0.04
_TURN = threading.Lock()  # PortAudio opens, closes and looks for devices one at a time


@dataclass(frozen=True)
class Wanted:
    """What to open."""

    rate: int
    """Hz; where the card lacks it, `rates` names others."""
    device: int | str | None = None
    """Index or part of the name; None is the system's default."""
    latency_s: float = 0.12
    """What the device is asked to buffer."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set while it is opened: they tell a sound server what the stream is for."""


@dataclass(frozen=True)
class Card:
    """An open device, not yet started."""

    stream: Any
    name: str
    rate: int
    channels: int
    latency_s: float
    """From the callback to the ear, as the driver tells it."""

    def start(self) -> None:
        """AudioError where it refuses; it is closed then."""
        try:
            self.stream.start()
        except _sounddevice().PortAudioError as error:
            self.close()
            raise AudioError(
                f"the sound device {self.name!r} does not start ({error}); close other programs that use it"
            ) from error

    def close(self) -> None:
        """Give it back, also when it is gone. What it holds unplayed is lost."""
        with _TURN, contextlib.suppress(Exception):  # a device that is gone cannot be closed any better
            self.stream.abort()
        with _TURN, contextlib.suppress(Exception):
            self.stream.close()


def block_and_rates(rate: int) -> tuple[int, tuple[int, ...]]:
    """Samples of a block at `rate` Hz, and the card's rates that such blocks can be converted to, best first.

    A conversion from `rate` takes whole periods of `rate / gcd(rate, other)` samples.
    """
    block, rates = 1, [rate]
    for other in _RATES_HZ:
        both = math.lcm(block, rate // math.gcd(rate, other))
        if other != rate and both <= rate * _LONGEST_BLOCK_S:
            block, rates = both, [*rates, other]
    return block * max(1, round(rate * _BLOCK_S / block)), tuple(rates)


def open_card(wanted: Wanted, callback: Callable[..., None], gone: Callable[[], None]) -> Card:
    """The device at its own best format: as asked, else stereo or all its channels, else at another rate.

    `callback` is PortAudio's, for float32; `gone` is called when the device has stopped by itself.
    Errors: AudioError without PortAudio or such a device, or when it refuses everything.
    """
    sd = _sounddevice()
    with _TURN, _hushed(), _variables(wanted.environment):
        found = _look(sd, wanted.device)
        refused = ""
        for rate, channels in _formats(wanted.rate, found["max_output_channels"]):
            try:
                stream = sd.OutputStream(
                    samplerate=rate,
                    blocksize=block_and_rates(wanted.rate)[0] * rate // wanted.rate,
                    device=found["index"],
                    latency=wanted.latency_s,
                    channels=channels,
                    dtype="float32",
                    callback=callback,
                    finished_callback=gone,
                )
                return Card(stream, found["name"], rate, channels, float(stream.latency))
            except sd.PortAudioError as error:
                refused = refused or str(error)
                if len(error.args) < 2 or error.args[1] not in _FORMAT_REFUSED:
                    break
        raise AudioError(f"no sound from device {found['name']!r}: {refused}\n{_known(sd)}")


def output_devices() -> list[str]:
    """One line for each device that can play: its index and name.

    Errors: AudioError without PortAudio.
    """
    return _lines(_sounddevice())


def _formats(rate: int, most_channels: int) -> Iterator[tuple[int, int]]:
    for device_rate in block_and_rates(rate)[1]:
        for channels in sorted({1, 2, most_channels}):
            if channels <= most_channels:
                yield device_rate, channels


def _look(sd: Any, device: int | str | None) -> Any:
    """PortAudio's facts of the device; it is asked to look anew where that may help."""
    if _cards_then != _cards() or not _matches(sd, device):
        _look_anew(sd)
    matches = _matches(sd, device)
    if len(matches) == 1:
        return matches[0]
    what = "the default device" if device is None else f"a device {device!r}"
    fault = (
        f"several devices are {device!r}" if matches else f"there is no sound from {what}: it is not there"
    )
    raise AudioError(f"{fault}\n{_known(sd)}")


def _matches(sd: Any, device: int | str | None) -> list[Any]:
    """The devices meant: one by its index or whole name, else those whose names contain the word.

    A card that was unplugged may come back under another number, so that one in the name does not count.
    """
    players = _players(sd)
    if device is None:
        device = sd.default.device[1]
    if isinstance(device, str) and device.isdecimal():
        device = int(device)
    if isinstance(device, int):
        return [each for each in players if each["index"] == device]
    exact = [each for each in players if each["name"] == device]
    word = re.sub(r" \(hw:\d+,\d+\)$", "", device).lower()
    return exact[:1] or [each for each in players if word in each["name"].lower()]


def _players(sd: Any) -> list[Any]:
    try:
        return [device for device in sd.query_devices() if device["max_output_channels"] > 0]
    except sd.PortAudioError:  # it did not begin
        return []


def _lines(sd: Any) -> list[str]:
    return [f"{device['index']}: {device['name']}" for device in _players(sd)]


def _known(sd: Any) -> str:
    lines = _lines(sd)
    known = "\n  ".join(["devices that can play:", *lines]) if lines else "there is no device that can play"
    return f"{known}\nname one of them, or write to a file with -o file.wav"


def _cards() -> str:
    """The kernel's list of sound cards."""
    with contextlib.suppress(OSError):
        return Path("/proc/asound/cards").read_text()
    return ""


_cards_then = _cards()  # when PortAudio last looked


def _look_anew(sd: Any) -> None:
    """PortAudio knows the devices of its beginning; ending it ends every stream there is, so there must be none."""
    global _cards_then
    gc.collect()  # streams that never opened
    kinds = getattr(sd, "_StreamBase", ())
    if any(issubclass(type(each), kinds) and not each.closed for each in gc.get_objects()):
        return
    _cards_then = _cards()
    with contextlib.suppress(sd.PortAudioError):
        sd._terminate()
    with contextlib.suppress(sd.PortAudioError):  # it may find nothing, and will be asked again
        sd._initialize()


def _sounddevice() -> Any:
    """The module, loaded only when sound is wanted: it opens PortAudio as it loads."""
    try:
        import sounddevice
    except (ImportError, OSError) as error:
        raise AudioError(
            f"no sound output ({error}): install it with `apt install libportaudio2` and `pip install"
            " sounddevice`, or write to a file with -o file.wav"
        ) from error
    return sounddevice


@contextlib.contextmanager
def _hushed() -> Iterator[None]:
    """Standard error goes nowhere: ALSA and PortAudio print a screenful for each format that a card lacks."""
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # there is none
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def _variables(wanted: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
