"""In a car: any Linux, and streams that say what they are for, so that the sound server ducks the music.

PulseAudio's `module-role-ducking` and PipeWire's policies go by the property `media.role`; both read the properties
of a program's streams from its environment (pulse-client: PULSE_PROP; PipeWire: PIPEWIRE_PROPS).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from stonechat.errors import OptionError

from . import board as boards
from .board import health as health
from .facts import AudioDefaults
from .linux import *  # noqa: F403 - what every board does alike


@dataclass(frozen=True)
class Role:
    """What a prompt is for."""

    priority: int
    """Of two prompts the higher is spoken first, and interrupts the other where it `interrupts`."""
    interrupts: bool
    pulse: str
    """`media.role` for PulseAudio."""
    pipewire: str
    """`media.role` for PipeWire."""


ROLES = {
    "emergency": Role(100, True, "emergency", "Emergency"),
    "warning": Role(80, True, "warning", "Alert"),
    "navigation": Role(60, True, "navigation", "Navigation"),
    "assistant": Role(40, False, "assistant", "Assistant"),
    "notification": Role(30, False, "event", "Notification"),
    "reading": Role(10, False, "a11y", "Accessibility"),
}
"""From what must be heard at once to what can wait."""
SYSTEMS = re.compile(r"agl|autosd|automotive|ivi|genivi", re.I)


def is_this(root: Path = Path("/")) -> bool:
    """Whether the system calls itself one for cars (Automotive Grade Linux, AutoSD)."""
    rows = [line.partition("=") for line in boards.read(root / "etc/os-release").splitlines()]
    names = {key: value.strip("\"'") for key, _, value in rows}
    return any(SYSTEMS.search(names.get(key, "")) for key in ("ID", "ID_LIKE", "VARIANT_ID"))


def audio(role: str = "navigation", root: Path = Path("/")) -> AudioDefaults:
    """The system's device, with the properties that make the server duck what else plays."""
    return AudioDefaults(environment=properties(role), why=f"the system's default, as {role}")


def properties(role: str) -> dict[str, str]:
    """Variables to set before the stream is opened. OptionError names the roles."""
    if role not in ROLES:
        raise OptionError(f"no role {role!r}: use one of {', '.join(ROLES)}")
    wanted = ROLES[role]
    pulse = f"media.role={wanted.pulse} application.name=stonechat application.id=stonechat"
    pipewire = f'{{ media.role = "{wanted.pipewire}" application.name = "stonechat" node.name = "stonechat-{role}" }}'
    return {"PULSE_PROP": pulse, "PIPEWIRE_PROPS": pipewire, "PIPEWIRE_ALSA": pipewire}
