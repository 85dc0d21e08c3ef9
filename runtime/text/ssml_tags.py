"""Values of SSML attributes: times, rates, pitches, volumes, emphasis. Each reader gives None for what is no value.

W3C Speech Synthesis Markup Language 1.1, sections 3.2.2 to 3.2.4 (http://www.w3.org/TR/speech-synthesis11/).
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from .manner import Manner

SEMITONE = math.log(2) / 12
LOG_F0_LIMIT = 6 * SEMITONE
"""The voice carries six semitones up and down; what goes beyond is held there."""
RATE_LIMITS = (0.5, 2.0)
"""What a document can ask for; with the call's speed, stage 3 holds it to what the voice carries."""
GAIN_LIMIT = 4.0
LONGEST_BREAK_S = 60.0

STRENGTHS = {"none": 0.0, "x-weak": 0.2, "weak": 0.3, "medium": 0.45, "strong": 0.75, "x-strong": 1.2}
"""Seconds of silence between two words."""
RATES = {"x-slow": 0.6, "slow": 0.8, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.5}
PITCHES = {"x-low": -4.0, "low": -2.0, "medium": 0.0, "default": 0.0, "high": 2.0, "x-high": 4.0}
"""Semitones."""
VOLUMES = {"x-soft": -12.0, "soft": -6.0, "medium": 0.0, "default": 0.0, "loud": 3.0, "x-loud": 6.0}
"""Decibels; "silent" is apart."""
EMPHASES = {
    "strong": (0.88, 1.6, 3.0),
    "moderate": (0.94, 0.8, 1.5),
    "none": (1.0, 0.0, 0.0),
    "reduced": (1.06, -0.8, -2.0),
}
"""Times the rate, semitones, decibels."""
NUMBER = r"(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})"
TIME = re.compile(rf"\+?({NUMBER})(ms|s)")
PERCENT = re.compile(rf"([+-]?)({NUMBER})%")
PLAIN_NUMBER = re.compile(NUMBER)
HERTZ = re.compile(rf"([+-]?)({NUMBER})[Hh]z")
SEMITONES = re.compile(rf"([+-]?{NUMBER})st")
DECIBELS = re.compile(rf"([+-]?{NUMBER})dB", re.IGNORECASE)

BREAK_HELP = f'a time like "500ms" or "1.5s", or a strength: {", ".join(STRENGTHS)}'
RATE_HELP = f'"80%", "+20%", "1.2" or one of {", ".join(RATES)}'
PITCH_HELP = f'"+2st", "-10%", "+20Hz", "220Hz" or one of {", ".join(PITCHES)}'
VOLUME_HELP = f'"+6dB", "-20%", "80" (0 to 100) or one of silent, {", ".join(VOLUMES)}'
EMPHASIS_HELP = f"one of {', '.join(EMPHASES)}"


def seconds(text: str) -> float | None:
    """A time, at most LONGEST_BREAK_S."""
    match = TIME.fullmatch(text)
    return min(float(match[1]) / (1000 if match[2] == "ms" else 1), LONGEST_BREAK_S) if match else None


def rate(text: str, now: Manner) -> Manner | None:
    """`now` at the rate: signed values change what it is, others the voice's own; "0%" is taken as no change."""
    if text in RATES:
        value = RATES[text]
    elif match := PERCENT.fullmatch(text):
        share = float(match[1] + match[2]) / 100
        value = share if share and not match[1] else now.rate * (1 + share)
    elif PLAIN_NUMBER.fullmatch(text):
        value = float(text)
    else:
        return None
    return replace(now, rate=clamp(value, *RATE_LIMITS))


def pitch(text: str, now: Manner, voice_hz: float) -> Manner | None:
    """`now` at the pitch: signed values change what it is, others the voice's own, whose middle is `voice_hz`."""
    if text in PITCHES:
        log_f0 = PITCHES[text] * SEMITONE
    elif match := SEMITONES.fullmatch(text):
        log_f0 = now.log_f0 + float(match[1]) * SEMITONE
    elif match := PERCENT.fullmatch(text):
        share = float(match[1] + match[2]) / 100
        log_f0 = _log(share) if share and not match[1] else now.log_f0 + _log(1 + share)
    elif match := HERTZ.fullmatch(text):
        hz = float(match[1] + match[2])
        log_f0 = _log((voice_hz * math.exp(now.log_f0) + hz if match[1] else hz) / voice_hz)
    else:
        return None
    return replace(now, log_f0=clamp(log_f0, -LOG_F0_LIMIT, LOG_F0_LIMIT))


def volume(text: str, now: Manner) -> Manner | None:
    """`now` at the volume: signed values and decibels change what it is, others the voice's own."""
    if text == "silent":
        gain = 0.0
    elif text in VOLUMES:
        gain = ratio(VOLUMES[text])
    elif match := DECIBELS.fullmatch(text):
        gain = now.gain * ratio(float(match[1]))
    elif match := PERCENT.fullmatch(text):
        share = float(match[1] + match[2]) / 100
        gain = now.gain * (1 + share) if match[1] else share
    elif re.fullmatch(rf"[+-]{NUMBER}", text):
        gain = now.gain + float(text) / 100
    elif PLAIN_NUMBER.fullmatch(text):
        gain = min(float(text), 100.0) / 100
    else:
        return None
    return replace(now, gain=clamp(gain, 0.0, GAIN_LIMIT))


def emphasis(text: str, now: Manner) -> Manner | None:
    """`now` with emphasis."""
    if text not in EMPHASES:
        return None
    times, semitones, decibels = EMPHASES[text]
    return replace(
        now,
        rate=clamp(now.rate * times, *RATE_LIMITS),
        log_f0=clamp(now.log_f0 + semitones * SEMITONE, -LOG_F0_LIMIT, LOG_F0_LIMIT),
        gain=clamp(now.gain * ratio(decibels), 0.0, GAIN_LIMIT),
    )


def language(text: str) -> str | None:
    """ "zh" or "en" of a language tag, None for any other language."""
    name = text.strip().lower().replace("_", "-").split("-")[0]
    return {"zh": "zh", "cmn": "zh", "en": "en"}.get(name)


def ratio(decibels: float) -> float:
    """Amplitude ratio of so many decibels."""
    return float(10 ** (min(decibels, 60.0) / 20))


def clamp(value: float, low: float, high: float) -> float:
    """The value, held between two limits."""
    return max(low, min(high, value))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -LOG_F0_LIMIT
