"""Any Linux that no other family knows."""

from pathlib import Path

from .board import health as health
from .facts import AudioDefaults
from .linux import *  # noqa: F403 - what every board does alike
from .linux import sound_server


def is_this(root: Path = Path("/")) -> bool:
    """Any Linux is."""
    del root
    return True


def audio(role: str = "assistant", root: Path = Path("/")) -> AudioDefaults:
    """The system's device; under a sound server it is the server's choice."""
    del role
    return AudioDefaults(why="the sound server's default") if sound_server(root) else AudioDefaults()
