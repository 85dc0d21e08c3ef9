"""WAV files: exact samples, whole files or none, pipes that break."""

import io
import os
import subprocess
import sys
import tracemalloc
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from stonechat.errors import AudioError
from stonechat.wav import WavWriter, to_int16

SOUND = np.sin(np.arange(10_000, dtype=np.float32) / 9) * 0.7


def as_int16(samples: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(samples, -1, 1) * np.float32(32767)).astype(np.int16)


@settings(deadline=None)
@given(arrays(np.float32, st.integers(0, 9000), elements=st.floats(-3, 3, width=32), fill=st.just(0.25)))
def test_to_int16(samples: np.ndarray) -> None:
    out = np.empty(len(samples), np.int16)
    to_int16(samples, out)
    assert np.array_equal(out, as_int16(samples))


def test_to_int16_edges() -> None:
    out = np.empty(7, np.int16)
    to_int16(np.array([1, -1, 2, -2, np.nan, np.inf, -np.inf], np.float32), out)
    assert out.tolist() == [32767, -32767, 32767, -32767, 0, 32767, -32767]


def test_to_int16_makes_no_array_as_long() -> None:
    samples, out = np.zeros(1 << 20, np.float32), np.empty(1 << 20, np.int16)
    tracemalloc.start()
    to_int16(samples, out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 10


def read(source: str | io.BytesIO) -> tuple[int, np.ndarray]:
    with wave.open(source, "rb") as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        return file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2")


def test_path_holds_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "语音.wav"
    with WavWriter(path, 24000) as writer:
        assert writer.write(SOUND[:960])
        assert not path.exists()  # nobody sees a half
        assert writer.write(SOUND[960:])
        assert writer.frames == len(SOUND)
    rate, samples = read(str(path))
    assert rate == 24000
    assert np.array_equal(samples, as_int16(SOUND))
    assert list(tmp_path.iterdir()) == [path]


def test_no_samples_make_a_valid_file(tmp_path: Path) -> None:
    WavWriter(str(tmp_path / "a.wav"), 24000).close()
    assert len(read(str(tmp_path / "a.wav"))[1]) == 0


def test_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"before")

    def fail() -> None:
        with WavWriter(path, 24000) as writer:
            writer.write(SOUND)
            raise RuntimeError("the stage died")

    with pytest.raises(RuntimeError, match="died"):
        fail()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_open_file_is_patched_from_where_it_stood() -> None:
    file = io.BytesIO(b"xxxx")
    file.seek(4)
    with WavWriter(file, 22050) as writer:
        writer.write(SOUND)
    assert not file.closed
    rate, samples = read(io.BytesIO(file.getvalue()[4:]))
    assert rate == 22050
    assert np.array_equal(samples, as_int16(SOUND))


def test_unwritable_path_is_told_at_once(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "folder.wav", tmp_path):
        with pytest.raises(AudioError, match="name a file you may write"):
            WavWriter(path, 24000)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk() -> None:
    with pytest.raises(AudioError, match=r"No space left.*with room"):
        WavWriter("/dev/full", 24000)


def test_too_long_for_a_wav(tmp_path: Path) -> None:
    with WavWriter(tmp_path / "a.wav", 24000) as writer:
        writer.frames = 1 << 31
        with pytest.raises(AudioError, match="4 GiB"):
            writer.write(SOUND)
        writer.frames = 0


RAW = """
import sys
import numpy as np
from stonechat.wav import WavWriter
with WavWriter("-", 24000) as writer:
    blocks = 0
    while blocks < {blocks} and writer.write(np.full(960, 0.5, np.float32)):
        blocks += 1
print(blocks, file=sys.stderr)
"""


def test_standard_output_is_raw() -> None:
    done = subprocess.run([sys.executable, "-c", RAW.format(blocks=3)], capture_output=True, timeout=60)
    assert done.stderr == b"3\n"
    assert np.array_equal(np.frombuffer(done.stdout, "<i2"), np.full(2880, 16384))


def test_reader_that_goes_ends_it_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RAW.format(blocks=10**9)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(4000)
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(60) == 0
    assert errors.strip().isdigit()


def test_fifo_gets_a_header_of_unknown_length(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as cat:
        with WavWriter(fifo, 24000) as writer:
            writer.write(SOUND)
        assert cat.stdout
        data = cat.stdout.read()
    assert data[40:44] == b"\xff\xff\xff\xff"
    assert np.array_equal(np.frombuffer(data[44:], "<i2"), as_int16(SOUND))
