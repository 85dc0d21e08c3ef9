"""`stonechat install-service`: units for systemd, filled in for this installation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from stonechat.platforms.automotive import ROLES

from .errors import OptionError, StonechatError

TEMPLATES = Path(__file__).parent / "data" / "systemd"
NAMES = ("stonechat.service", "stonechat.socket")
SYSTEM_FOLDER = Path("/etc/systemd/system")


def units(user: bool, role: str = "assistant") -> dict[str, str]:
    """File name to content. OptionError for a role that does not exist."""
    if role not in ROLES:
        raise OptionError(f"no role {role!r}: use one of {', '.join(ROLES)}")
    command = f"{_quoted(sys.executable)} -m stonechat serve --role {role}"
    folder = TEMPLATES / "user" if user else TEMPLATES
    return {name: (folder / name).read_text("utf8").replace("{command}", command) for name in NAMES}


def _quoted(path: str) -> str:
    """A path as systemd.service(5) reads it."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(c.isspace() or c in "\"'" for c in path) else escaped


def unit_folder(user: bool) -> Path:
    """Where systemd looks for units of the system, or of this user."""
    if not user:
        return SYSTEM_FOLDER
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if os.path.isabs(config) else Path.home() / ".config") / "systemd" / "user"


def install(made: dict[str, str], user: bool) -> list[str]:
    """Write the units, and where systemd runs have it start them; returns what was done, and what is left to do.

    Errors: StonechatError where the folder cannot be written, or systemd refuses.
    """
    folder, done = unit_folder(user), []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text, "utf8")
            done.append(f"wrote {folder / name}")
    except OSError as error:
        hint = "" if user else ", or install it with --user"
        raise StonechatError(
            f"cannot write {folder} ({error.strerror}): run it as root (sudo){hint}"
        ) from error
    systemctl = ["systemctl", *(["--user"] if user else [])]
    commands = [[*systemctl, "daemon-reload"], [*systemctl, "enable", "--now", *NAMES]]
    if _systemd_runs():
        for command in commands:
            _run(command)
            done.append(f"ran `{' '.join(command)}`")
    else:
        done += [f"systemd does not run here; where it does: `{' '.join(command)}`" for command in commands]
    if not user and Path(sys.executable).is_relative_to("/root"):
        done.append(
            f"the service's own user cannot read {sys.executable}: install stonechat in /opt or /usr/local"
        )
    if user:
        done.append("to have it start before you log in: `loginctl enable-linger`")
    return done


def _systemd_runs() -> bool:
    return Path("/run/systemd/system").is_dir() and shutil.which("systemctl") is not None


def _run(command: list[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode:
        raise StonechatError(f"`{' '.join(command)}` failed: {ran.stderr.strip()}; see `journalctl -xe`")
