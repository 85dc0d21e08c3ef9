"""Prompts that wait to be spoken: the more urgent first, those of one urgency in their order, stale ones not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stonechat.platforms.automotive import ROLES

from .errors import OptionError, TextError
from .wishes import Wishes, read_wishes

MAX_WAITING = 64
MAX_TEXT = 20_000
"""Characters of one prompt."""

Tell = Callable[[dict[str, Any]], None]
"""Sends an event to whoever asked; never raises, never blocks for long."""


@dataclass(eq=False)
class Prompt:
    """One text to speak, and what becomes of it."""

    text: str
    id: str
    role: str
    interrupts: bool
    """Ends a less urgent prompt that is being spoken."""
    expires_at_s: float
    """On the monotonic clock; spoken no more if it has not begun by then."""
    wishes: Wishes
    tell: Tell = field(repr=False)
    ended: str = ""
    """Why it shall be spoken no further: cancelled, interrupted or stopping."""

    @property
    def priority(self) -> int:
        return ROLES[self.role].priority


def read_prompt(request: dict[str, Any], fallback_id: str, role: str, tell: Tell) -> Prompt:
    """A prompt from a request's fields. OptionError or TextError names what is wrong.

    Fields: text; id (to cancel it by); role (see `ROLES`); interrupt (true or false; by default as the role says);
    expires_after (seconds); and the wishes of `Voice.inference`, such as voice, speed and volume.
    """
    given = dict(request)
    text, name = given.pop("text", None), given.pop("id", fallback_id)
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise TextError(f"text must be a string of at most {MAX_TEXT} characters")
    if not isinstance(name, str | int) or not 0 < len(str(name)) <= 100:
        raise OptionError(f"id is {name!r}: use a short string")
    role = given.pop("role", role)
    if role not in ROLES:
        raise OptionError(f"no role {role!r}: use one of {', '.join(ROLES)}")
    interrupts = given.pop("interrupt", ROLES[role].interrupts)
    if not isinstance(interrupts, bool):
        raise OptionError(f"interrupt is {interrupts!r}: use true or false")
    seconds = given.pop("expires_after", None)
    if seconds is not None and (
        not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds >= 0
    ):
        raise OptionError(f"expires_after is {seconds!r}: use seconds, or leave it away")
    expires_at_s = float("inf") if seconds is None else time.monotonic() + seconds
    if "inline" in given:
        raise OptionError("no option 'inline' here")
    return Prompt(text, str(name), role, interrupts, expires_at_s, read_wishes(given), tell)


class PromptQueue:
    """Filled by the service's thread, emptied by the speaker's."""

    def __init__(self) -> None:
        self._waiting: list[Prompt] = []
        self._changed = threading.Condition()
        self.current: Prompt | None = None
        """What is being spoken."""

    def put(self, prompt: Prompt) -> None:
        """Queue it; end what is spoken now where it is less urgent and `prompt` interrupts. OptionError when full."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING:
                raise OptionError(f"{MAX_WAITING} prompts are waiting: cancel some, or send them later")
            urgency = [p.priority >= prompt.priority for p in self._waiting]
            self._waiting.insert(urgency.index(False) if False in urgency else len(urgency), prompt)
            prompt.tell({"event": "queued", "id": prompt.id})  # before the speaker can tell more of it
            now = self.current
            if now and not now.ended and prompt.interrupts and prompt.priority > now.priority:
                now.ended = "interrupted"
            self._changed.notify()

    def take(self, timeout_s: float) -> Prompt | None:
        """The next prompt, which is the current one from now on; None when there is none within the time.

        Stale ones are dropped, and those who asked for them are told.
        """
        with self._changed:
            if not self._waiting:
                self._changed.wait(timeout_s)
            now_s = time.monotonic()
            stale = [prompt for prompt in self._waiting if prompt.expires_at_s < now_s]
            self._waiting = [prompt for prompt in self._waiting if prompt.expires_at_s >= now_s]
            self.current = self._waiting.pop(0) if self._waiting else None
        for prompt in stale:
            prompt.tell({"event": "expired", "id": prompt.id})
        return self.current

    def done(self) -> None:
        """The current prompt has been spoken, or was ended."""
        with self._changed:
            self.current = None

    def cancel(self, name: str | None = None, why: str = "cancelled") -> int:
        """End the prompts of this id, or all; returns how many. Those waiting are told here, the current one is by
        the speaker, once it is silent.
        """
        with self._changed:
            gone = [p for p in self._waiting if name in (None, p.id)]
            self._waiting = [p for p in self._waiting if p not in gone]
            now = self.current if self.current and name in (None, self.current.id) else None
            if now and not now.ended:
                now.ended = why
            self._changed.notify()  # who is ending waits no longer
        for prompt in gone:
            prompt.tell({"event": why, "id": prompt.id})
        return len(gone) + (now is not None)

    @property
    def waiting(self) -> int:
        """Prompts that have not begun."""
        return len(self._waiting)
