"""Puts the service together: voice, player, sockets, signals."""

from __future__ import annotations

import contextlib
import gc
import signal
from dataclasses import dataclass

from stonechat.platforms import current
from stonechat.platforms.automotive import ROLES, properties

from .errors import OptionError
from .player import Player
from .realtime import PLAYER_PRIORITY, promote_caller
from .serve import Service, listen, socket_path
from .serve_queue import PromptQueue
from .serve_speaker import Output, Speaker
from .serve_systemd import Notifier, listening_sockets
from .voice import load


@dataclass(frozen=True)
class ServeOptions:
    """What `stonechat serve` was asked for."""

    model: str = "default"
    device: str | None = None
    """None: as the board's platform chooses."""
    socket: str | None = None
    """Path; not looked at where systemd hands sockets over."""
    role: str = "assistant"
    """Of prompts that name none, and of the stream for the sound server."""
    lock: bool = True
    """Keep everything in memory."""


def serve(options: ServeOptions) -> None:
    """Speak until SIGTERM or SIGINT. OptionError, VoiceError and so on where it cannot start."""
    if options.role not in ROLES:
        raise OptionError(f"no role {options.role!r}: use one of {', '.join(ROLES)}")
    notifier = Notifier()
    with contextlib.ExitStack() as stack:
        listening = listening_sockets()
        if not listening:
            listening = [stack.enter_context(listen(socket_path(options.socket)))]
        notifier.status("loading the voice")
        if options.lock:
            current().keep_heap()
        voice = stack.enter_context(
            load(options.model, sessions=1, lock=options.lock, keep=True, real_time=True)
        )
        promote_caller()
        rate = voice.facts.rate_hz
        speaker = Speaker(voice, PromptQueue(), lambda: _open_output(options, rate))
        service = Service(listening, speaker, options.role, notifier)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: service.stop())
        if options.lock:
            current().keep_heap()  # again: loading has used up what was touched ahead
        gc.collect()
        gc.freeze()  # what is loaded stays: the collector need not look through it while speaking
        service.run()


def _open_output(options: ServeOptions, rate: int) -> Output:
    defaults = current().audio(options.role)
    return Player(
        rate,
        options.device or defaults.device,
        lead_in_s=defaults.lead_in_s,
        environment={**properties(options.role), **defaults.environment},
        on_thread=lambda: promote_caller(PLAYER_PRIORITY),
    )
