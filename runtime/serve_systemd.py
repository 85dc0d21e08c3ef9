"""What a service says to systemd and takes from it, in plain Python: sd_notify(3), sd_listen_fds(3), sd_watchdog(3)."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, MutableMapping

from .errors import OptionError

FIRST_FD = 3


class Notifier:
    """Sends the service manager what it waits for; where there is none, nothing happens."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        mine = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        usec = environment.get("WATCHDOG_USEC", "") if mine else ""
        self.watchdog_s = int(usec) / 1e6 if usec.isdigit() and int(usec) else None
        """It restarts a service of which it has heard nothing for so long; None where it does not watch."""

    def ready(self, status: str) -> None:
        """Started up."""
        self._send(f"READY=1\nSTATUS={status}")

    def status(self, status: str) -> None:
        """One line for `systemctl status`."""
        self._send(f"STATUS={status}")

    def alive(self) -> None:
        """Feed the watchdog."""
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """About to end."""
        self._send("STOPPING=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                sender.sendto(message.encode(), self._address)
        except OSError:  # it listens no more: nothing to be done, and no reason to fall silent
            return


def listening_sockets(environment: MutableMapping[str, str] = os.environ) -> list[socket.socket]:
    """The sockets that systemd opened for this process and listens on already; none where it did not.

    The variables are taken away, so that no child believes they were meant for it. OptionError where they are wrong.
    """
    mine = environment.pop("LISTEN_PID", "") == str(os.getpid())
    count = environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if not mine or not count.isdigit():
        return []
    sockets = []
    try:
        for number in range(FIRST_FD, FIRST_FD + int(count)):
            os.set_inheritable(number, False)
            sockets.append(socket.socket(fileno=number))
    except OSError as error:
        raise OptionError(
            f"LISTEN_FDS is {count}, but {number} is no open socket ({error.strerror})"
        ) from error
    return sockets
