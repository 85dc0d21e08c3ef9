"""`stonechat serve`: speaks what comes in through a Unix socket, the most urgent first.

A line is a text to speak, or a JSON object:

    {"text": "Turn right.", "role": "navigation", "id": "turn", "expires_after": 5, "speed": 1.1}
    {"cancel": "turn"}      {"cancel": true}      {"status": true}

To every prompt there are answers, each a JSON object on a line: queued, started, then done, cancelled, interrupted,
expired, stopping or error. `echo "Turn right." | nc -UN "$SOCKET"` will do.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import stat
import threading
from pathlib import Path
from typing import Any

from .errors import OptionError, StonechatError
from .serve_queue import read_prompt
from .serve_speaker import Speaker
from .serve_systemd import Notifier

MAX_LINE = 256 * 1024
MAX_CLIENTS = 32
TICK_S = 1.0
END_S = 2.0


class Client:
    """One connection: bytes come in pieces, answers go out. It is closed when nothing is left to be told."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.pending = b""
        self._lock = threading.Lock()  # the service's thread and the speaker's tell it things
        self._prompts = 0
        self._deaf = self._hung_up = False

    def tell(self, event: dict[str, Any]) -> None:
        """Send an event. Who does not read, or has gone, misses it: nobody else shall wait for that."""
        line = json.dumps(event, ensure_ascii=False).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):
            if not self._deaf:
                self._deaf = self.connection.send(line, socket.MSG_DONTWAIT) < len(line)

    def tell_of_prompt(self, event: dict[str, Any]) -> None:
        """Send an event of one of its prompts, from queued to the last."""
        self.tell(event)
        with self._lock:
            self._prompts += {"queued": 1, "started": 0}.get(event["event"], -1)
        self._close_if_done()

    def hang_up(self) -> None:
        """It sends nothing more."""
        self._hung_up = True
        self._close_if_done()

    def _close_if_done(self) -> None:
        with self._lock:
            if self._hung_up and not self._prompts:
                self.connection.close()

    def lines(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes. OptionError for one that does not end."""
        *whole, self.pending = (self.pending + data).split(b"\n")
        if len(self.pending) > MAX_LINE:
            raise OptionError(f"a line of more than {MAX_LINE} bytes: send shorter texts")
        return whole


class Service:
    """Accepts, reads, queues and watches in one thread; a `Speaker` speaks in another."""

    def __init__(
        self, listening: list[socket.socket], speaker: Speaker, role: str, notifier: Notifier
    ) -> None:
        self.queue, self.speaker = speaker.queue, speaker
        self.role, self.notifier = role, notifier
        self.ending = False
        self._selector = selectors.DefaultSelector()
        self._clients = 0
        self._prompts = 0
        self._fed_for = (-1, -1)
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, self._end)
        for server in listening:
            server.setblocking(False)
            self._selector.register(server, selectors.EVENT_READ, self._accept)

    def run(self) -> None:
        """Serve until `stop`, or until the speaker dies, which is an error."""
        self.speaker.start()
        self.notifier.ready("ready to speak")
        tick_s = min(TICK_S, (self.notifier.watchdog_s or TICK_S * 4) / 4)
        try:
            while not self.ending and self.speaker.is_alive():
                for key, _ in self._selector.select(tick_s):
                    key.data(key.fileobj)
                self._feed()
        finally:
            self.notifier.stopping()
            self.speaker.end()
            self.speaker.join(END_S)
            self._close()
        if not self.ending:
            raise StonechatError(
                "the speaking thread has ended: see the error above, and start the service again"
            )

    def stop(self) -> None:
        """End the service; from any thread, or a signal handler."""
        with contextlib.suppress(OSError):
            self._wake.send(b"x")

    def _feed(self) -> None:
        """Feed the watchdog if the player has got on since: a service that hangs is to be started again."""
        progress = self.speaker.progress()
        if progress != self._fed_for:
            self._fed_for = progress
            self.notifier.alive()

    def _end(self, woken: socket.socket) -> None:
        self.ending = True

    def _accept(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):  # gone again already
            connection, _ = server.accept()
            if self._clients >= MAX_CLIENTS:
                Client(connection).tell(_fault("", f"{MAX_CLIENTS} are connected: try again later"))
                connection.close()
                return
            connection.setblocking(False)
            self._clients += 1
            client = Client(connection)
            self._selector.register(connection, selectors.EVENT_READ, lambda _: self._read(client))

    def _read(self, client: Client) -> None:
        try:
            data = client.connection.recv(65536)
            lines = client.lines(data or b"\n")  # the last line may come without an end
        except BlockingIOError:
            return
        except OSError:
            self._hang_up(client)
            return
        except OptionError as error:
            client.tell(_fault("", str(error)))
            self._hang_up(client)
            return
        for line in lines:
            self._handle(line, client)
        if not data:
            self._hang_up(client)

    def _handle(self, line: bytes, client: Client) -> None:
        name = f"prompt-{self._prompts + 1}"
        try:
            request = _request(line)
            if request is None:
                return
            if isinstance(request.get("id"), str):
                name = request["id"]
            answer = self._answer(request, name, client)
            if answer:
                client.tell(answer)
        except StonechatError as error:
            client.tell(_fault(name, str(error)))

    def _answer(self, request: dict[str, Any], name: str, client: Client) -> dict[str, Any] | None:
        if "cancel" in request:
            which = request["cancel"]
            if which is not True and not isinstance(which, str):
                raise OptionError(f"cancel is {which!r}: use an id, or true for all")
            return {"event": "cancelling", "prompts": self.queue.cancel(None if which is True else which)}
        if "status" in request:
            now = self.queue.current
            return {
                "event": "status",
                "speaking": now.id if now else None,
                "waiting": self.queue.waiting,
                "spoken": self.speaker.spoken,
            }
        prompt = read_prompt(request, name, self.role, client.tell_of_prompt)
        self._prompts += 1
        self.queue.put(prompt)
        return None

    def _hang_up(self, client: Client) -> None:
        """Read no more of it; it is still told of its prompts."""
        self._selector.unregister(client.connection)
        self._clients -= 1
        client.hang_up()

    def _close(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()
        self._wake.close()


def _request(line: bytes) -> dict[str, Any] | None:
    """The request in a line; None in an empty one. OptionError for what is neither text nor a JSON object."""
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise OptionError(f"a line is not UTF-8 ({error.reason}): send UTF-8") from error
    if not text.startswith("{"):
        return {"text": text} if text else None
    try:
        request = json.loads(text)
    except ValueError as error:
        raise OptionError(f"a line begins with {{ but is no JSON object ({error})") from error
    assert isinstance(request, dict)
    return request


def _fault(name: str, message: str) -> dict[str, Any]:
    return {"event": "error", "id": name, "message": message}


def socket_path(given: str | None) -> Path:
    """Where to listen: as given, in the service's own folder, or in the user's. OptionError where there is none."""
    for variable in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        if given:
            return Path(given)
        if folder := os.environ.get(variable):
            return Path(folder.split(":")[0]) / "stonechat.sock"
    raise OptionError("nowhere to listen: give --socket PATH, or set XDG_RUNTIME_DIR")


@contextlib.contextmanager
def listen(path: Path) -> Any:
    """A socket at `path`, for its owner and group; one left by a service that died is replaced.

    Errors: OptionError when another service listens there, or it cannot be made.
    """
    _clear(path)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    before = os.umask(0o117)
    try:
        server.bind(str(path))
        server.listen(MAX_CLIENTS)
    except OSError as error:
        server.close()
        raise OptionError(
            f"cannot listen at {path} ({error.strerror or error}): give another --socket"
        ) from error
    finally:
        os.umask(before)
    try:
        yield server
    finally:
        server.close()
        path.unlink(missing_ok=True)


def _clear(path: Path) -> None:
    if not path.exists():
        return
    if not stat.S_ISSOCK(path.stat().st_mode):
        raise OptionError(f"{path} is no socket: give another --socket, or remove it")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise OptionError(f"another service listens at {path}: stop it, or give another --socket")
