"""Sessions on the tiny voice: streaming, determinism, cancel, wiping, errors; no real voice needed."""

import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import stonechat
from stonechat.session import Session

TINY = Path(__file__).parent / "data" / "tiny_voice"
TEXT = "前方三百米右转，进入中山路。In three hundred meters, turn right."


@pytest.fixture(scope="module")
def voice() -> Iterator[stonechat.Voice]:
    with stonechat.load(TINY, lock=False, sessions=3) as voice:
        yield voice


def streamed(voice: stonechat.Voice, text: str, **wishes: object) -> np.ndarray:
    return np.concatenate([c.samples for c in voice.inference(text, stream=True, **wishes)])


@pytest.mark.parametrize("wishes", [{}, {"chunk_ms": 120}, {"chunk_ms": 1000}, {"inline": True}], ids=str)
def test_stream_equals_batch(voice: stonechat.Voice, wishes: dict[str, object]) -> None:
    whole, rate = voice.inference(TEXT)
    assert rate == 24000
    assert len(whole) > rate
    np.testing.assert_allclose(streamed(voice, TEXT, **wishes), whole, atol=1e-4)


def test_same_seed_same_sound_other_seed_other_noise(voice: stonechat.Voice) -> None:
    a, b, c = (voice.inference("你好。", seed=s)[0] for s in (1, 1, 2))
    assert np.array_equal(a, b)
    assert len(a) == len(c)
    assert not np.array_equal(a, c)


def test_neighbours_do_not_matter(voice: stonechat.Voice) -> None:
    alone = streamed(voice, TEXT)
    heard: dict[int, np.ndarray] = {}
    texts = (TEXT, "Hello there.", TEXT)

    def speak(i: int) -> None:
        heard[i] = streamed(voice, texts[i])

    threads = [threading.Thread(target=speak, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    np.testing.assert_allclose(heard[0], alone, atol=1e-6)
    np.testing.assert_allclose(heard[2], alone, atol=1e-6)


def test_chunks_tell_size_time_and_words(voice: stonechat.Voice) -> None:
    chunks = list(voice.inference("Turn right. 右转。", stream=True))
    assert {len(c.samples) for c in chunks[:-1]} == {960}
    assert [c.start_s for c in chunks] == pytest.approx([i * 0.04 for i in range(len(chunks))])
    spoken = {w.text: w for c in chunks for w in c.words}
    assert {"Turn", "right"} <= set(spoken)
    assert spoken["Turn"].start_s < spoken["right"].start_s < chunks[-1].start_s
    for word in spoken.values():
        assert "Turn right. 右转。"[word.start : word.end] == word.text


def test_slower_is_longer_and_softer_is_softer(voice: stonechat.Voice) -> None:
    plain, slow, soft = (voice.inference(TEXT, **w)[0] for w in ({}, {"speed": 0.8}, {"volume": 0.5}))
    assert 1.15 < len(slow) / len(plain) < 1.35
    unclipped = np.abs(plain) < 1
    np.testing.assert_allclose(soft[unclipped], plain[unclipped] * 0.5, atol=1e-6)


@pytest.mark.parametrize(
    "wishes",
    [
        {"speed": 2},
        {"volume": -1},
        {"seed": -1},
        {"seed": 1.5},
        {"chunk_ms": 50},
        {"voice": "nobody"},
        {"loud": 1},
    ],
    ids=str,
)
def test_wrong_wishes_are_named(voice: stonechat.Voice, wishes: dict[str, object]) -> None:
    name = next(iter(wishes))
    with pytest.raises(stonechat.StonechatError, match="nobody" if name == "voice" else name):
        voice.inference("x", **wishes)


@pytest.mark.parametrize("text", ["", "   ", "...", "。。。", "\n\n"], ids=repr)
def test_nothing_to_say_is_no_sound(voice: stonechat.Voice, text: str) -> None:
    assert len(voice.inference(text)[0]) == 0
    assert list(voice.inference(text, stream=True)) == []


def test_cancel_ends_the_stream_with_a_fade_and_the_session_goes_on(voice: stonechat.Voice) -> None:
    with voice.session() as session:
        chunks = []
        for chunk in session.stream(TEXT * 20):
            chunks.append(chunk)
            if len(chunks) == 3:
                session.cancel()
        assert len(chunks) <= 4
        assert len(chunks[-1].samples) <= 960
        again = np.concatenate([c.samples for c in session.stream("你好。")])
    np.testing.assert_allclose(again, voice.inference("你好。")[0], atol=1e-6)


def test_abandoned_stream_frees_its_session(voice: stonechat.Voice) -> None:
    for _ in range(8):
        stream = voice.inference(TEXT, stream=True)
        next(stream)
        stream.close()


def test_slot_is_zero_after_close_cancel_and_error(
    voice: stonechat.Voice, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = voice.session()
    slot = session.slot
    stream = session.stream(TEXT)
    next(stream)
    assert slot.region.any()
    stream.close()
    assert not slot.region.any()
    monkeypatch.setattr(voice.frontend, "pronounce", fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        list(session.stream(TEXT))
    assert not slot.region.any()
    monkeypatch.undo()
    assert list(session.stream("你好。"))
    session.close()
    assert not slot.region.any()
    with pytest.raises(stonechat.OptionError, match="closed"):
        next(session.stream("x"))


def fail(*_: object) -> None:
    raise RuntimeError("on purpose")


def test_one_session_fails_the_others_go_on(voice: stonechat.Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    pronounce = voice.frontend.pronounce
    monkeypatch.setattr(
        voice.frontend, "pronounce", lambda s: fail() if "boom" in s.spoken.lower() else pronounce(s)
    )
    with voice.session() as good, voice.session() as bad:
        stream = good.stream(TEXT)
        next(stream)
        with pytest.raises(RuntimeError, match="on purpose"):
            list(bad.stream("Boom."))
        assert len(list(stream)) > 5


def test_sessions_run_out_with_a_clear_error(voice: stonechat.Voice) -> None:
    sessions = [voice.session() for _ in range(3)]
    with pytest.raises(stonechat.OptionError, match="sessions="):
        voice.session()
    for session in sessions:
        session.close()


def test_speaking_twice_at_once_is_refused(voice: stonechat.Voice) -> None:
    with voice.session() as session:
        stream = session.stream(TEXT)
        next(stream)
        with pytest.raises(stonechat.OptionError, match="still speaks"):
            next(session.stream("x"))
        stream.close()


def test_no_array_sized_allocation_while_streaming(voice: stonechat.Voice) -> None:
    with voice.session() as session:
        for _ in session.stream(TEXT):
            pass
        peak = peak_between_chunks(session)
    # Before numpy 2 an FFT has no out= and works in float64: some 100 KiB for three frames.
    assert peak < (64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 144) * 1024


def peak_between_chunks(session: Session) -> int:
    """Largest growth of traced memory over one chunk, bytes; every stage in this thread."""
    from stonechat.wishes import Wishes

    stream = session.stream(TEXT * 3, Wishes(inline=True))
    for _ in range(30):  # past the first clause, whose binding is new
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
    return sorted(peaks)[len(peaks) // 2]


def test_pool_too_small_maps_what_needs_how_much() -> None:
    with pytest.raises(stonechat.PoolError, match=r"pool_mib=\d+") as caught:
        stonechat.load(TINY, pool_mib=1, lock=False)
    assert "weights" in str(caught.value)


def test_unknown_engine_is_named() -> None:
    with pytest.raises(stonechat.OptionError, match="numpy, onnxruntime"):
        stonechat.load(TINY, engine="abacus")


@pytest.mark.parametrize("damage", ["truncate", "text", "empty"])
def test_damaged_graph_is_a_model_error(tmp_path: Path, damage: str) -> None:
    for file in TINY.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    graph = tmp_path / "vocoder.onnx"
    graph.write_bytes({"truncate": graph.read_bytes()[:90_000], "text": b"no model", "empty": b""}[damage])
    with pytest.raises(stonechat.ModelError):
        stonechat.load(tmp_path, lock=False)


def test_swapped_graphs_are_told(tmp_path: Path) -> None:
    for file in TINY.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pitch.onnx").write_bytes((TINY / "acoustic.onnx").read_bytes())
    with pytest.raises(stonechat.VoiceError, match="no pitch graph"):
        stonechat.load(tmp_path, lock=False)


@pytest.mark.parametrize(
    "wish", [{"sessions": 0}, {"sessions": 2.5}, {"pool_mib": "32"}, {"pool_mib": float("inf")}]
)
def test_wrong_loads_are_told(wish: dict[str, object]) -> None:
    with pytest.raises(stonechat.OptionError, match=next(iter(wish))):
        stonechat.load(TINY, lock=False, **wish)


@pytest.mark.parametrize("text", [None, b"x", 5])
def test_what_is_no_text_is_told(voice: stonechat.Voice, text: object) -> None:
    with pytest.raises(stonechat.TextError, match="not str"):
        voice.inference(text)


def test_onnxruntime_engine_sounds_the_same(voice: stonechat.Voice) -> None:
    pytest.importorskip("onnxruntime")
    with stonechat.load(TINY, engine="onnxruntime", lock=False, sessions=1) as other:
        np.testing.assert_allclose(streamed(other, TEXT), voice.inference(TEXT)[0], atol=1e-3)
