"""A PulseAudio of our own with a sink that plays into nothing: sound output without a sound card."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

START_S = 10.0


@contextlib.contextmanager
def null_sink(rate_hz: int = 48_000) -> Iterator[None]:
    """While inside, PulseAudio's default sink swallows all; the variables that lead to it are set.

    Errors: SystemExit where PulseAudio is not installed, or does not start.
    """
    if not shutil.which("pulseaudio"):
        raise SystemExit("no pulseaudio: apt install pulseaudio libasound2-plugins libportaudio2")
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_RUNTIME_DIR": folder, "PULSE_SERVER": f"unix:{folder}/pulse/native"}
        sink = f"module-null-sink sink_name=nul rate={rate_hz} channels=2"
        command = [
            "pulseaudio",
            "-n",
            "--exit-idle-time=-1",
            "--daemonize=no",
            "-L",
            "module-native-protocol-unix",
        ]
        server = subprocess.Popen([*command, "-L", sink], stderr=subprocess.DEVNULL)
        try:
            _wait_for(Path(folder) / "pulse" / "native", server)
            yield
        finally:
            server.terminate()
            server.wait()
            os.environ.clear()
            os.environ.update(before)


def _wait_for(path: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while not path.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("pulseaudio does not start: try it by hand, `pulseaudio -n -vv`")
        time.sleep(0.05)
