"""What a platform answers with."""

from dataclasses import dataclass
from typing import Literal

BlasLimit = Literal["environment", "library", "none"]
"""Where a limit on BLAS threads took hold: numpy's variables, the loaded library, or nowhere."""


@dataclass(frozen=True)
class Outcome:
    """Whether the system granted a request; true in a condition where it did."""

    done: bool
    """Granted."""
    remedy: str = ""
    """Where not: why, and what to do about it."""

    def __bool__(self) -> bool:
        return self.done


@dataclass(frozen=True)
class Board:
    """Facts of the machine."""

    model: str
    """Board or product name, such as 'Raspberry Pi 4 Model B Rev 1.4'."""
    cpu: str
    """Processor name, such as 'Cortex-A72'."""
    cores: int
    """Processors this process may use."""
    memory_bytes: int
    """Physical memory."""
