"""The porting surface: everything the runtime asks of one family of boards.

A board family is a module of plain functions with these names (`generic` is any Linux). Nothing here imports
numpy, so that BLAS threads can be limited before numpy loads.
"""

import mmap
from collections.abc import Iterable
from typing import Protocol

from . import generic
from .facts import BlasLimit, Board, Outcome

__all__ = ["BlasLimit", "Board", "Outcome", "Platform", "current"]


class Platform(Protocol):
    """What a board family's module offers; see `generic` for what each function promises."""

    def lock_memory(self) -> Outcome: ...
    def advise(self, mapping: mmap.mmap) -> None: ...
    def schedule_fifo(self, priority: int) -> Outcome: ...
    def pin(self, cpus: Iterable[int]) -> Outcome: ...
    def board(self) -> Board: ...
    def limit_blas_threads(self, n: int) -> BlasLimit: ...
    def thread_stack(self, nbytes: int) -> Outcome: ...


def current() -> Platform:
    """The module for the board this process runs on."""
    return generic
