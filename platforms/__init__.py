"""The porting surface: everything the runtime asks of one family of boards.

A board family is a module of plain functions with these names (`generic` is any Linux). Nothing here imports
numpy, so that BLAS threads can be limited before numpy loads. `root` is where /proc and /sys hang: tests lay out
others.
"""

import mmap
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Protocol

from stonechat.errors import OptionError

from . import automotive, generic, raspberry
from .facts import AudioDefaults, BlasLimit, Board, Health, MemoryRoom, Outcome

__all__ = [
    "AudioDefaults",
    "BlasLimit",
    "Board",
    "Health",
    "MemoryRoom",
    "Outcome",
    "Platform",
    "choose",
    "current",
]


class Platform(Protocol):
    """What a board family's module offers; see `generic` for what each function promises."""

    def is_this(self, root: Path) -> bool: ...
    def lock_memory(self) -> Outcome: ...
    def keep_heap(self) -> Outcome: ...
    def advise(self, mapping: mmap.mmap) -> None: ...
    def memory_room(self) -> MemoryRoom | None: ...
    def processor_share(self) -> float | None: ...
    def schedule_fifo(self, priority: int, thread: int = ...) -> Outcome: ...
    def pin(self, cpus: Iterable[int], thread: int = ...) -> Outcome: ...
    def speaking_cpus(self) -> tuple[int, ...]: ...
    def board(self) -> Board: ...
    def features(self) -> tuple[str, ...]: ...
    def health(self) -> Health: ...
    def audio(self, role: str = ...) -> AudioDefaults: ...
    def limit_blas_threads(self, n: int) -> BlasLimit: ...
    def blas_threads(self) -> int | None: ...
    def thread_stack(self, nbytes: int) -> Outcome: ...


FAMILIES: dict[str, Platform] = {"automotive": automotive, "raspberry": raspberry, "generic": generic}
"""In this order each is asked whether the machine is its own; `STONECHAT_PLATFORM` names one instead."""


@cache
def current() -> Platform:
    """The module for the board this process runs on."""
    return choose()


def choose(root: Path = Path("/")) -> Platform:
    """The first family that knows the machine by its own files. OptionError for a wrong STONECHAT_PLATFORM."""
    wish = os.environ.get("STONECHAT_PLATFORM", "")
    if wish and wish not in FAMILIES:
        raise OptionError(f"STONECHAT_PLATFORM is {wish!r}: use one of {', '.join(FAMILIES)}, or unset it")
    if wish:
        return FAMILIES[wish]
    return next((module for module in FAMILIES.values() if module.is_this(root)), generic)
