"""A caller's wishes for one call, checked: how to speak, apart from what the voice is."""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from .errors import OptionError

CHUNK_MS = 40
MAX_CHUNK_MS = 1000


@dataclass(frozen=True)
class Wishes:
    """Options of `Voice.inference` and `Session.stream`."""

    speed: float = 1.0
    """0.8 to 1.3."""
    volume: float = 1.0
    """0 to 2; 1 is as trained."""
    seed: int = 0
    """Fixes the noise: same text, same audio."""
    voice: str | None = None
    """Speaker name; None chooses by language."""
    chunk_ms: int = CHUNK_MS
    """Milliseconds of sound a chunk, a multiple of 40."""
    read_symbols: bool = False
    """Read emoji and markup by name instead of leaving them out."""
    ssml: bool | str = False
    """The text is SSML: True, or "lenient" to read malformed markup as text."""
    inline: bool = False
    """Run the stages in the caller's thread."""

    def __post_init__(self) -> None:
        _set(self, "speed", _number("speed", self.speed, 0.8, 1.3))
        _set(self, "volume", _number("volume", self.volume, 0.0, 2.0))
        _set(self, "seed", _whole("seed", self.seed, 0, 2**63 - 1))
        _set(self, "chunk_ms", _whole("chunk_ms", self.chunk_ms, CHUNK_MS, MAX_CHUNK_MS))
        if self.chunk_ms % CHUNK_MS:
            raise OptionError(f"chunk_ms is {self.chunk_ms}: use a multiple of {CHUNK_MS}")
        if self.voice is not None and (not isinstance(self.voice, str) or not self.voice):
            raise OptionError(f"voice is {self.voice!r}: use a speaker's name, or None")
        if self.ssml not in (False, True, "lenient"):
            raise OptionError(f'ssml is {self.ssml!r}: use True, False or "lenient"')
        for name in ("read_symbols", "inline"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{name} is {getattr(self, name)!r}: use True or False")


def read_wishes(options: dict[str, Any]) -> Wishes:
    """Wishes from keyword arguments. OptionError names what is unknown or out of range."""
    known = [f.name for f in fields(Wishes)]
    for name in options:
        if name not in known:
            raise OptionError(f"no option {name!r}; there are: {', '.join(known)}, stream")
    return Wishes(**options)


def _set(wishes: Wishes, name: str, value: object) -> None:
    object.__setattr__(wishes, name, value)  # the dataclass is frozen for everybody else


def _number(name: str, value: object, low: float, high: float) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not low <= float(value) <= high:
        raise OptionError(f"{name} is {value!r}: use a number from {low} to {high}")
    return float(value)


def _whole(name: str, value: object, low: int, high: int) -> int:
    try:
        whole = low - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = low - 1
    if not low <= whole <= high:
        raise OptionError(f"{name} is {value!r}: use a whole number from {low} to {high}")
    return whole
