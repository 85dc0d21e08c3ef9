"""Any rate to any other, in blocks, with the state kept."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stonechat.output import block_and_rates
from stonechat.resample import Resampler

PAIRS = [(rate, other) for rate in (16000, 22050, 24000) for other in block_and_rates(rate)[1][1:]]


def resampled(samples: np.ndarray, rate: int, other: int, block: int) -> np.ndarray:
    convert = Resampler(rate, other, block)
    whole = samples[: len(samples) // block * block].reshape(-1, block)
    return np.concatenate([convert(part).copy() for part in whole])


def tone(frequency_hz: float, rate: int, seconds: float) -> np.ndarray:
    return np.sin(2 * np.pi * frequency_hz * np.arange(round(seconds * rate)) / rate).astype(np.float32)


@pytest.mark.parametrize(("rate", "other"), PAIRS)
@pytest.mark.parametrize("part", [0.01, 0.3, 0.9])
def test_tones_are_kept(rate: int, other: int, part: float) -> None:
    """Up to 9 tenths of what the slower rate can carry, in place to the sample."""
    frequency, block = part * min(rate, other) / 2, block_and_rates(rate)[0]
    out = resampled(tone(frequency, rate, 0.3), rate, other, block)
    delay_s = Resampler(rate, other, block).delay / rate
    wanted = np.sin(2 * np.pi * frequency * (np.arange(len(out)) / other - delay_s))
    assert np.abs(out - wanted)[round(3 * delay_s * other) :].max() < 1e-3


@pytest.mark.parametrize(("rate", "other"), PAIRS)
def test_what_does_not_belong_is_80_db_down(rate: int, other: int) -> None:
    """Images of a tone on the way up, its alias on the way down."""
    slower, block = min(rate, other), block_and_rates(rate)[0]
    beyond = slower < rate
    frequency = 0.55 * slower if beyond else 0.45 * slower
    out = resampled(tone(frequency, rate, 1), rate, other, block)[1000:-1000].astype(float)
    level = np.abs(np.fft.rfft(out * np.blackman(len(out)))) * 2 / (0.42 * len(out))
    if not beyond:
        at = round(frequency * len(out) / other)
        level[at - 10 : at + 10] = 0
    assert 20 * np.log10(level.max()) < -75


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(PAIRS), st.integers(1, 4))
def test_the_sound_is_the_same_in_any_blocks(pair: tuple[int, int], times: int) -> None:
    rate, other = pair
    block = block_and_rates(rate)[0]
    sound = np.random.default_rng(1).standard_normal(12 * block).astype(np.float32)
    out = resampled(sound, rate, other, block * times)
    assert np.allclose(out, resampled(sound, rate, other, block)[: len(out)], atol=1e-5)


def test_twice_the_rate_keeps_every_sample() -> None:
    sound = np.random.default_rng(1).standard_normal(2400).astype(np.float32)
    delay = Resampler(24000, 48000, 240).delay
    out = resampled(sound, 24000, 48000, 240)
    assert np.allclose(out[2 * delay :: 2], sound[:-delay], atol=1e-6)


def test_a_steady_level_is_kept_in_every_phase() -> None:
    assert np.abs(resampled(np.ones(2400, np.float32), 24000, 44100, 240)[500:] - 1).max() < 1e-5


def test_blocks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 80"):
        Resampler(24000, 44100, 100)


def test_makes_no_array() -> None:
    convert, sound = Resampler(24000, 44100, 240), np.zeros(240, np.float32)
    convert(sound)
    tracemalloc.start()
    for _ in range(5):
        convert(sound)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2048
