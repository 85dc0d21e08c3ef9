"""What a platform answers with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class MemoryRoom:
    """What the control groups of this process leave it: the tightest of them counts."""

    limit_bytes: int
    used_bytes: int
    group: str
    """Its path, such as '/system.slice/stonechat.service'."""

    @property
    def free_bytes(self) -> int:
        return max(0, self.limit_bytes - self.used_bytes)


@dataclass(frozen=True)
class Health:
    """How the board is doing; None where it does not tell."""

    temperature_c: float | None = None
    """Of the processor, the hottest of its sensors."""
    governor: str | None = None
    """Of the clock, such as 'ondemand'."""
    faults: tuple[str, ...] = ()
    """What slows it down now, each with its remedy."""
    past: tuple[str, ...] = ()
    """What slowed it down since it was switched on."""


@dataclass(frozen=True)
class AudioDefaults:
    """How to open sound on this board, unless the caller says otherwise."""

    device: str | None = None
    """Part of the device's name; None is the system's default."""
    lead_in_s: float = 0.05
    """Silence that the device swallows after it was opened."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables to set before the device is opened: they tell a sound server what the stream is for."""
    why: str = "the system's default"
