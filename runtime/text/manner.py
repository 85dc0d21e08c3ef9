"""How the author of a document wants it spoken, apart from the words: what travels with a clause to the sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Manner:
    """How a stretch of text is spoken."""

    rate: float = 1.0
    """Times the call's speed."""
    log_f0: float = 0.0
    """Added to the natural log of F0: log(2) / 12 is a semitone up."""
    gain: float = 1.0
    """Times the call's volume."""
    speaker: str = ""
    """Name of a speaker; "" leaves the call's."""


PLAIN = Manner()


@dataclass(frozen=True)
class Speakers:
    """What a document can ask of the voice."""

    names: Mapping[str, int] | None = None
    """Speakers by name; None takes any name."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Language to its speaker."""
    middle_hz: float = 220.0
    """The middle of the voice's pitch, for pitches in Hz."""


@dataclass(frozen=True)
class Delivery:
    """How a clause is spoken, where its author said so."""

    steps: tuple[tuple[int, Manner], ...] = ((0, PLAIN),)
    """From which symbol on, which manner; the first begins at symbol 0."""
    gap_s: float | None = None
    """Seconds from the end of the last word to the next clause's first; None leaves the voice's own pause."""
    marks: tuple[tuple[str, int], ...] = ()
    """Names of marks, and the symbol at whose beginning each is reached."""

    @property
    def speaker(self) -> str:
        """Who speaks the clause, "" for the call's speaker."""
        return self.steps[0][1].speaker


UNSAID = Delivery()
