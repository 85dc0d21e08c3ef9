"""SSML in the sound of the real voice: what was asked for is measured in samples, Hz and decibels."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
import stonechat
from stonechat.wishes import Wishes

TEXT = "前方右转。Turn right."


@pytest.fixture(scope="module")
def voice() -> Iterator[stonechat.Voice]:
    with stonechat.load("default", lock=False, sessions=2) as voice:
        yield voice


def ssml(voice: stonechat.Voice, inside: str, **wishes: object) -> np.ndarray:
    return voice.inference(f"<speak>{inside}</speak>", ssml=True, **wishes)[0]


def chunks(voice: stonechat.Voice, inside: str, **wishes: object) -> list[stonechat.Chunk]:
    return list(voice.inference(f"<speak>{inside}</speak>", ssml=True, stream=True, **wishes))


def streamed(voice: stonechat.Voice, inside: str, **wishes: object) -> np.ndarray:
    return np.concatenate([c.samples for c in chunks(voice, inside, **wishes)])


def words(found: list[stonechat.Chunk]) -> dict[str, stonechat.SpokenWord]:
    return {word.text: word for chunk in found for word in chunk.words}


def part(found: list[stonechat.Chunk], word: str) -> np.ndarray:
    """The samples of a word."""
    wave, spoken = np.concatenate([c.samples for c in found]), words(found)[word]
    return wave[int(spoken.start_s * found[0].rate) : int(spoken.end_s * found[0].rate)]


def level_db(samples: np.ndarray) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(samples**2)) + 1e-9))


def pitch_hz(samples: np.ndarray, rate: int) -> np.ndarray:
    """F0 by autocorrelation of frames of 40 ms, every 10 ms; NaN where they are not periodic."""
    found = []
    for at in range(0, len(samples) - 960, 240):
        frame = samples[at : at + 960] - samples[at : at + 960].mean()
        spectrum = np.fft.rfft(frame * np.hanning(960), 2048)
        sums = np.fft.irfft(np.abs(spectrum) ** 2)
        low, high = rate // 450, rate // 110
        lag = low + int(np.argmax(sums[low:high]))
        found.append(rate / lag if sums[lag] > 0.5 * sums[0] > 0 else np.nan)
    return np.array(found)


def semitones_between(plain: np.ndarray, moved: np.ndarray) -> float:
    """Median over frames, which stand side by side: pitch moves no durations."""
    return float(np.nanmedian(12 * np.log2(pitch_hz(moved, 24000) / pitch_hz(plain, 24000))))


def test_markup_that_asks_for_nothing_is_the_plain_sound(voice: stonechat.Voice) -> None:
    plain = voice.inference(TEXT)[0]
    for inside in (
        TEXT,
        f"<lang xml:lang='zh'>{TEXT[:5]}</lang>{TEXT[5:]}",
        f"<mark name='a'/>{TEXT}<mark name='b'/>",
        f"<prosody rate='medium' pitch='+0st' volume='+0dB'>{TEXT}</prosody>",
        f"<voice name='xiaobei'>{TEXT}</voice>",
    ):
        assert np.array_equal(ssml(voice, inside), plain)


EVERYTHING = (
    "<voice name='heart'>Turn <prosody rate='slow' pitch='+3st' volume='-6dB'>right</prosody> "
    "<break time='250ms'/> <emphasis level='strong'>now</emphasis>.</voice><mark name='m'/>"
    "<prosody volume='loud' pitch='low'>前方三百米<emphasis>右转</emphasis></prosody>"
)


@pytest.mark.parametrize("wishes", [{}, {"chunk_ms": 120}, {"chunk_ms": 1000}, {"inline": True}], ids=str)
def test_stream_equals_batch(voice: stonechat.Voice, wishes: dict[str, object]) -> None:
    whole = ssml(voice, EVERYTHING)
    assert np.array_equal(ssml(voice, EVERYTHING), whole)
    np.testing.assert_allclose(streamed(voice, EVERYTHING, **wishes), whole, atol=1e-4)


def test_rate_stretches_its_words_and_only_these(voice: stonechat.Voice) -> None:
    inside = "Turn <prosody rate='{}'>right</prosody> tomorrow."
    spoken = {rate: words(chunks(voice, inside.format(rate))) for rate in ("slow", "medium", "fast")}

    def lasting(rate: str, word: str) -> float:
        return spoken[rate][word].end_s - spoken[rate][word].start_s

    assert lasting("slow", "right") == pytest.approx(lasting("medium", "right") / 0.8, rel=1e-3)
    assert lasting("fast", "right") == pytest.approx(lasting("medium", "right") / 1.25, rel=1e-3)
    for word in ("Turn", "tomorrow"):
        assert lasting("slow", word) == pytest.approx(lasting("medium", word), rel=1e-3)
    slow, fast = (len(ssml(voice, f"<prosody rate='{r}'>{TEXT}</prosody>")) for r in ("x-slow", "x-fast"))
    assert slow > 1.3 * len(voice.inference(TEXT)[0]) > 1.7 * fast


def test_rate_goes_with_the_calls_speed_as_far_as_the_voice_carries(voice: stonechat.Voice) -> None:
    def length(rate: str, speed: float) -> int:
        return len(ssml(voice, f"<prosody rate='{rate}'>{TEXT}</prosody>", speed=speed))

    assert abs(length("125%", 0.8) - length("100%", 1.0)) <= 2 * 3 * 320
    assert length("50%", 0.8) == length("60%", 1.0) == length("10%", 0.8)
    assert abs(length("200%", 1.3) - length("160%", 1.0)) <= 2 * 3 * 320


@pytest.mark.parametrize("semitones", [-4, 4])
def test_pitch_moves_f0_by_so_many_semitones(voice: stonechat.Voice, semitones: int) -> None:
    inside = "My <prosody pitch='{:+}st'>aluminum</prosody> ruler."
    plain, moved = (chunks(voice, inside.format(n)) for n in (0, semitones))
    moves = semitones_between(part(plain, "aluminum"), part(moved, "aluminum"))
    assert moves == pytest.approx(semitones, abs=0.7)
    assert abs(semitones_between(part(plain, "ruler"), part(moved, "ruler"))) < 0.7


def test_volume_scales_its_words_without_a_click(voice: stonechat.Voice) -> None:
    plain = np.concatenate([c.samples for c in chunks(voice, "My aluminum ruler.")])
    found = chunks(voice, "My <prosody volume='-12dB'>aluminum</prosody> ruler.")
    soft, spoken = np.concatenate([c.samples for c in found]), words(found)["aluminum"]
    first, last = int(spoken.start_s * 24000) + 320, int(spoken.end_s * 24000) - 640
    np.testing.assert_allclose(soft[first:last], plain[first:last] * 10 ** (-12 / 20), atol=1e-6)
    after = int(words(found)["ruler"].start_s * 24000)  # the space belongs to the word before it
    outside = np.r_[0 : first - 960, after + 320 : len(plain)]
    np.testing.assert_allclose(soft[outside], plain[outside], atol=1e-6)
    heard = np.abs(plain) > 0.01
    gains = soft[heard] / plain[heard]
    steps = np.abs(np.diff(gains)) / np.diff(np.flatnonzero(heard))
    assert steps.max() <= 1.01 * (1 - 10 ** (-12 / 20)) / 320  # a ramp over one frame, never a jump
    assert level_db(ssml(voice, "<prosody volume='silent'>Hello</prosody>")) < -150


def test_volume_goes_with_the_calls_and_never_clips_over(voice: stonechat.Voice) -> None:
    half = ssml(voice, "<prosody volume='+6.0206dB'>Hello.</prosody>", volume=0.5)
    np.testing.assert_allclose(half, voice.inference("Hello.")[0], atol=1e-5)
    loud = ssml(voice, "<prosody volume='+60dB'>Hello.</prosody>", volume=2.0)
    assert np.array_equal(loud, voice.inference("Hello.", volume=2.0)[0])


@pytest.mark.parametrize("before", ["Turn left", "Turn left.", "左转", "左转。"])
def test_break_lasts_as_long_as_it_says(voice: stonechat.Voice, before: str) -> None:
    lengths = {}
    for ms in (200, 500, 3000):
        wave = ssml(voice, f"{before}<break time='{ms}ms'/>right")
        lengths[ms] = len(wave)
        silence = np.diff(np.flatnonzero(np.abs(wave) > 0.01)).max() / 24000
        assert silence == pytest.approx(ms / 1000, abs=0.08)
    assert lengths[500] - lengths[200] == 7_200
    assert lengths[3000] - lengths[500] == 60_000


def test_break_is_silence(voice: stonechat.Voice) -> None:
    wave = ssml(voice, "Left<break time='2s'/>right.")
    assert 1.7 * 24000 < np.diff(np.flatnonzero(wave)).max() < 2 * 24000


def test_breaks_at_the_ends(voice: stonechat.Voice) -> None:
    plain = ssml(voice, "Left.")
    led = ssml(voice, "<break time='700ms'/>Left.")
    assert len(led) - len(plain) == 16_800
    assert not led[:16_800].any()
    np.testing.assert_allclose(led[16_800:], plain, atol=1e-6)
    assert (
        len(ssml(voice, "Left.<break time='2s'/><break time='1s'/>"))
        - len(ssml(voice, "Left.<break time='2s'/>"))
        == 24_000
    )
    only = ssml(voice, "<break time='1s'/>")
    assert len(only) == 24_000
    assert not only.any()
    assert len(streamed(voice, "<break time='10s'/>")) == 240_000


def test_voice_changes_the_speaker(voice: stonechat.Voice) -> None:
    inside = "<voice name='heart'>Hello there.</voice> <voice name='xiaobei'>你好。</voice>"
    both = ssml(voice, inside)
    first, second = (
        voice.inference(text, voice=name)[0]
        for text, name in (("Hello there.", "heart"), ("你好。", "xiaobei"))
    )
    assert len(both) == len(first) + len(second)
    np.testing.assert_allclose(both[: len(first)], first, atol=1e-6)
    assert np.array_equal(
        ssml(voice, "<voice xml:lang='en-US'>5</voice>"), voice.inference("5", voice="heart")[0]
    )
    with pytest.warns(UserWarning, match="xiaobei, heart"):
        unknown = ssml(voice, "<voice name='nobody'>Hello there.</voice>")
    assert np.array_equal(unknown, first)


def test_marks_come_in_their_chunk_with_their_time(voice: stonechat.Voice) -> None:
    found = chunks(
        voice,
        "<mark name='a'/>Turn <mark name='b'/>right.<mark name='c'/><break time='1s'/><mark name='d'/>Now."
        "<mark name='e'/>",
    )
    marks = {mark.name: mark.time_s for chunk in found for mark in chunk.marks}
    spoken = words(found)
    assert list(marks) == ["a", "b", "c", "d", "e"]
    assert marks["a"] == spoken["Turn"].start_s
    assert marks["b"] == spoken["right"].start_s
    assert marks["c"] == pytest.approx(spoken["right"].end_s, abs=1e-6)
    assert marks["d"] == spoken["Now"].start_s
    assert marks["d"] - marks["c"] == pytest.approx(1.0, abs=0.05)
    assert marks["e"] == pytest.approx(sum(len(c.samples) for c in found) / 24000)
    for chunk in found[:-1]:
        for mark in chunk.marks:
            assert chunk.start_s <= mark.time_s < chunk.start_s + len(chunk.samples) / 24000
    wave = np.concatenate([c.samples for c in found])
    loud = np.flatnonzero(np.abs(wave) > 0.01) / 24000
    assert (
        marks["d"] - 0.12 < loud[loud > marks["c"] + 0.5].min() <= marks["d"]
    )  # a sound begins before its middle


def test_marks_alone_come_without_samples(voice: stonechat.Voice) -> None:
    found = chunks(voice, "<mark name='a'/><mark name='b'/>")
    assert [(m.name, m.time_s) for c in found for m in c.marks] == [("a", 0.0), ("b", 0.0)]
    assert sum(len(c.samples) for c in found) == 0
    assert chunks(voice, "") == []


def test_malformed_is_told_at_once_and_the_session_goes_on(voice: stonechat.Voice) -> None:
    with voice.session() as session:
        with pytest.raises(stonechat.TextError, match="line 1, column 11"):
            session.stream("<speak>a & b</speak>", Wishes(ssml=True))
        assert list(session.stream("<speak>a</speak>", Wishes(ssml=True)))
        with pytest.warns(UserWarning, match="read as text"):
            stream = session.stream("<speak>a & b</speak>", Wishes(ssml="lenient"))
        assert sum(len(c.samples) for c in stream) == len(voice.inference("a & b")[0])


def test_only_asked_for_ssml_is_read(voice: stonechat.Voice) -> None:
    assert np.array_equal(voice.inference("Hello <i>there</i>")[0], voice.inference("Hello there")[0])
    assert len(voice.inference("Hello <break time='9s'/> there")[0]) < 4 * 24000
    with pytest.raises(stonechat.OptionError, match="lenient"):
        voice.inference("x", ssml="maybe")


def test_slot_is_zero_afterwards(voice: stonechat.Voice) -> None:
    with voice.session() as session:
        for _ in session.stream(f"<speak>{EVERYTHING}</speak>", Wishes(ssml=True)):
            pass
        assert not session.slot.region.any()


def test_no_array_sized_allocation_while_streaming(voice: stonechat.Voice) -> None:
    text = f"<speak><prosody pitch='+2st' volume='soft' rate='90%'>{TEXT * 9}</prosody></speak>"
    with voice.session() as session:
        stream = session.stream(text, Wishes(inline=True, ssml=True))
        for _ in range(60):
            next(stream)
        tracemalloc.start()
        try:
            peaks = []
            for _ in range(20):
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                next(stream)
                peaks.append(tracemalloc.get_traced_memory()[1] - before)
        finally:
            tracemalloc.stop()
            stream.close()
    assert (
        sorted(peaks)[len(peaks) // 2]
        < (64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 144) * 1024
    )
