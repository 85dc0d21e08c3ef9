"""Raspberry Pi: any Linux, and what only this board tells: its supply, its throttling, its ways out for sound."""

import re
from dataclasses import replace
from pathlib import Path

from . import board as boards
from .facts import AudioDefaults, Health
from .linux import *  # noqa: F403 - what every board does alike
from .linux import sound_server

FIRMWARE = "sys/devices/platform/soc/soc:firmware/get_throttled"
FAULTS = (
    "under-voltage: use a supply of 5.1 V and 3 A (5 A for a Pi 5) and a short, thick cable",
    "the clock is capped: cool the board, or mend its supply",
    "throttled: cool the board (heat sink, fan), or mend its supply",
    "warm (soft limit): give the board a heat sink or air",
)
"""Bits 0 to 3 of the firmware's word; bits 16 to 19 say the same of the time since boot."""
I2S = re.compile(
    r"hifiberry|iqaudio|allo|justboom|googlevoicehat|max98357|i2s|dac|wm8960|seeed|respeaker", re.I
)
USB = re.compile(r"usb", re.I)
HEADPHONES = re.compile(r"headphones|bcm2835 (?:alsa|audio)", re.I)
HDMI = re.compile(r"hdmi", re.I)
HDMI_LEAD_IN_S = 0.8
"""A television mutes its first moments: it waits until it knows the format."""


def is_this(root: Path = Path("/")) -> bool:
    """Whether the device tree says so."""
    return boards.read(root / "proc/device-tree/model").startswith("Raspberry Pi")


def health(root: Path = Path("/")) -> Health:
    """Temperature, clock, and what the firmware says of supply and throttling."""
    facts, word = boards.health(root), throttled(root)
    if word is None:
        return facts
    now = tuple(text for bit, text in enumerate(FAULTS) if word >> bit & 1)
    past = tuple(text for bit, text in enumerate(FAULTS) if word >> (16 + bit) & 1)
    return replace(facts, faults=now, past=past)


def throttled(root: Path = Path("/")) -> int | None:
    """The firmware's word, from sysfs, the voltage sensor or `vcgencmd`, whichever is there."""
    text = boards.read(root / FIRMWARE)
    if not text and root == Path("/"):
        text = _vcgencmd().partition("=")[2]
    try:
        return int(text, 16)
    except ValueError:
        return _voltage_alarm(root)


def _voltage_alarm(root: Path) -> int | None:
    """Newer kernels without the file above have a sensor with one alarm: under-voltage, now."""
    for sensor in (root / "sys/class/hwmon").glob("hwmon*"):
        if boards.read(sensor / "name") == "rpi_volt":
            return int(boards.read(sensor / "in0_lcrit_alarm") == "1")
    return None


def _vcgencmd() -> str:
    import subprocess  # only here, for it costs every start some milliseconds

    try:
        done = subprocess.run(
            ["vcgencmd", "get_throttled"], capture_output=True, text=True, timeout=2, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def audio(role: str = "assistant", root: Path = Path("/")) -> AudioDefaults:
    """A sound server's own choice where one runs. Else the card that somebody added (I2S, then USB), for they did so
    on purpose; then the headphone jack; then HDMI, with silence ahead.
    """
    del role
    if sound_server(root):
        return AudioDefaults(why="the sound server's default")
    cards = _cards(root)
    for pattern, why, lead_in_s in (
        (I2S, "an I2S card", 0.05),
        (USB, "a USB card", 0.05),
        (HEADPHONES, "the headphone jack", 0.05),
        (HDMI, "HDMI: no other card", HDMI_LEAD_IN_S),
    ):
        for name in cards:
            if pattern.search(name):
                return AudioDefaults(name, lead_in_s, why=why)
    return AudioDefaults()


def _cards(root: Path) -> list[str]:
    """Names as PortAudio shows them, from lines such as ` 0 [Headphones ]: bcm2835_headpho - bcm2835 Headphones`."""
    lines = boards.read(root / "proc/asound/cards").split("\n")
    return [line.split(" - ", 1)[1].strip() for line in lines if "]:" in line and " - " in line]
