"""However an utterance, a session or a voice ends, nobody hangs and nobody hears another's words."""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import stonechat

TINY = Path(__file__).parent / "data" / "tiny_voice"
LONG = "前方三百米右转，进入中山路。In three hundred meters, turn right." * 5


@pytest.fixture
def voice() -> Iterator[stonechat.Voice]:
    with stonechat.load(TINY, lock=False, sessions=1) as voice:
        yield voice


@pytest.fixture
def hello(voice: stonechat.Voice) -> np.ndarray:
    return voice.inference("Hello.")[0]


def test_session_left_while_its_stream_lives(voice: stonechat.Voice, hello: np.ndarray) -> None:
    with voice.session() as session:
        old = session.stream(LONG)
        next(old)
    with voice.session() as session:
        heard = np.concatenate([c.samples for c in session.stream("Hello.")])
        assert list(old) == []
    np.testing.assert_allclose(heard, hello, atol=1e-6)


def test_session_closed_from_another_thread(voice: stonechat.Voice, hello: np.ndarray) -> None:
    session = voice.session()
    begun = threading.Event()

    def read() -> None:
        for _ in session.stream(LONG):
            begun.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert begun.wait(20)
    session.close()
    reader.join(20)
    assert not reader.is_alive()
    np.testing.assert_allclose(voice.inference("Hello.")[0], hello, atol=1e-6)


def test_cancel_before_the_first_chunk(voice: stonechat.Voice) -> None:
    with voice.session() as session:
        stream = session.stream(LONG)
        session.cancel()
        assert len(list(stream)) <= 1


def test_wrong_wishes_are_told_at_the_call(voice: stonechat.Voice, hello: np.ndarray) -> None:
    with pytest.raises(stonechat.VoiceError):
        voice.inference("x", stream=True, voice="nobody")
    np.testing.assert_allclose(voice.inference("Hello.")[0], hello, atol=1e-6)


class Cycle:
    """Holds a stream in a reference cycle: only the garbage collector ends it."""

    def __init__(self, stream: stonechat.Utterance) -> None:
        self.stream, self.me = stream, self


@pytest.mark.parametrize("inline", [False, True])
def test_streams_left_to_the_garbage_collector(voice: stonechat.Voice, inline: bool) -> None:
    for _ in range(5):
        cycle = Cycle(voice.inference(LONG, stream=True, inline=inline))
        next(cycle.stream)
        del cycle
        gc.collect()
        assert len(voice.inference("Hello.")[0])


def test_collector_inside_a_stage(voice: stonechat.Voice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage that collects is the one the dropped stream would have to wait for."""
    with stonechat.load(TINY, lock=False, sessions=2) as two:
        pronounce = two.frontend.pronounce
        monkeypatch.setattr(two.frontend, "pronounce", lambda s: (gc.collect(), pronounce(s))[1])
        for _ in range(5):
            cycle = Cycle(two.inference(LONG, stream=True))
            next(cycle.stream)
            del cycle
            assert len(two.inference("Hello.")[0])


def test_use_after_close_is_told(voice: stonechat.Voice) -> None:
    stream = voice.inference(LONG, stream=True)
    next(stream)
    voice.close()
    with pytest.raises(stonechat.OptionError, match="closed"):
        list(stream)
    with pytest.raises(stonechat.OptionError, match="load it again"):
        voice.inference("x")


def test_close_while_another_thread_listens() -> None:
    voice = stonechat.load(TINY, lock=False, sessions=1)
    begun, told = threading.Event(), []

    def read() -> None:
        try:
            for _ in voice.inference(LONG * 10, stream=True):
                begun.set()
        except stonechat.OptionError as error:
            told.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    assert begun.wait(20)
    voice.close()
    reader.join(20)
    assert not reader.is_alive()
    assert told


def test_two_threads_on_one_stream_are_told(voice: stonechat.Voice) -> None:
    stream = voice.inference(LONG, stream=True)
    with stream._busy, pytest.raises(stonechat.OptionError, match="another thread"):
        next(stream)
    stream.close()


def test_after_a_fork_is_told(voice: stonechat.Voice) -> None:
    child = os.fork()
    if not child:
        try:
            voice.inference("x")
        except stonechat.OptionError as error:
            os._exit(0 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_voices_dropped_without_close_leave_nothing() -> None:
    def loaded() -> None:
        stonechat.load(TINY, lock=False, sessions=1)

    loaded()
    gc.collect()
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        loaded()
        gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("stonechat-"):
            thread.join(5)
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= files + 2


def test_script_may_end_while_speaking() -> None:
    code = (
        "import stonechat, sys\n"
        "voice = stonechat.load(sys.argv[1], lock=False)\n"
        f"stream = voice.inference({LONG!r}, stream=True)\n"
        "next(stream)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(TINY)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == ""
