"""Compiled graphs kept between starts: the same sound to the bit, whatever is in the cache."""

import os
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
import stonechat
from stonechat import cache
from stonechat.cli import main
from stonechat.engine import Program, load_graph
from stonechat.engine.compiled import compile_graph
from stonechat.engine.compiled_file import from_bytes, to_bytes
from stonechat.errors import ModelError
from stonechat.facts import GRAPHS, find_voice

TINY = Path(__file__).parent / "data" / "tiny_voice"
TEXT = "你好3。Turn left."
LONGEST = {"encoder": {"N": 256}, "pitch": {"T": 75}, "acoustic": {"T": 75}, "vocoder": {"T": 75}}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CACHE_DIRECTORY", raising=False)
    return tmp_path / "cache" / "stonechat"


def speak(model: Path | str = TINY, keep: bool | None = None) -> np.ndarray:
    with stonechat.load(model, sessions=1, lock=False, warm=False, keep=keep) as voice:
        return voice.inference(TEXT, inline=True)[0]


def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Notes every graph file that is read and compiled from now on."""
    read: list[Path] = []

    def reading(path: Path) -> object:
        read.append(path)
        return load_graph(path)

    monkeypatch.setattr(cache, "load_graph", reading)
    return read


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("voice", ["tiny", pytest.param("default", marks=pytest.mark.slow)])
def test_a_compiled_graph_comes_back_as_it_was(graph: str, voice: str) -> None:
    path = (TINY if voice == "tiny" else find_voice(voice)) / f"{graph}.onnx"
    made = compile_graph(load_graph(path), LONGEST[graph])
    back = from_bytes(memoryview(b"".join(to_bytes(made, {"a": 1}))), {"a": 1})
    for name in ("inputs", "outputs", "metadata", "max_dims", "running"):
        assert getattr(back, name) == getattr(made, name)
    assert back.schedule.nodes == made.schedule.nodes
    assert (back.schedule.joins, back.schedule.orders) == (made.schedule.joins, made.schedule.orders)
    for name in ("slots", "in_place", "joined", "views", "running"):
        assert getattr(back.plan, name) == getattr(made.plan, name)
    assert list(back.constants) == list(made.constants)
    for name, value in made.constants.items():
        assert back.constants[name].dtype == value.dtype
        assert back.constants[name].tobytes() == value.tobytes()
    one, other = Program(made), Program(back)
    assert (one.weight_bytes, one.arena_bytes) == (other.weight_bytes, other.arena_bytes)


def test_the_second_start_reads_no_model_and_sounds_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = speak(keep=False)
    assert not home.exists()
    assert np.array_equal(speak(), plain)
    assert not home.exists()  # nobody asked for it
    assert np.array_equal(speak(keep=True), plain)
    assert len(list(home.iterdir())) == 4
    read = compilations(monkeypatch)
    assert np.array_equal(speak(), plain)
    assert read == []
    assert np.array_equal(speak(keep=False), plain)
    assert len(read) == 4


def test_numbers_in_attributes_survive(home: Path) -> None:
    """A voice of both engines' kinds of nodes; and what JSON writes of a float is read back to the bit."""
    made = compile_graph(load_graph(TINY / "vocoder.onnx"), LONGEST["vocoder"])
    floats = [v for node in made.schedule.nodes for v in node.attributes.values() if isinstance(v, float)]
    back = from_bytes(memoryview(b"".join(to_bytes(made, {}))), {})
    again = [v for node in back.schedule.nodes for v in node.attributes.values() if isinstance(v, float)]
    assert floats == again


@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "foreign", "header", "folder"])
def test_a_damaged_file_is_made_anew(home: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = speak(keep=True)
    victim = next(home.glob("*vocoder*"))
    whole = victim.read_bytes()
    if damage == "folder":
        victim.unlink()
        victim.mkdir()
    else:
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 1
        bad_header = whole[:8] + b"\xff\xff\xff\x7f" + whole[12:]
        spoilt = {"empty": b"", "short": whole[:-9], "flipped": bytes(flipped), "foreign": b"x" * 99}
        victim.write_bytes({**spoilt, "header": bad_header}[damage])
    read = compilations(monkeypatch)
    assert np.array_equal(speak(), plain)
    assert [path.stem for path in read] == ["vocoder"]
    assert damage == "folder" or victim.read_bytes() == whole


def test_another_voice_version_or_processor_is_stale(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = shutil.copytree(TINY, tmp_path / "mine")
    speak(mine, keep=True)
    graph = mine / "vocoder.onnx"
    before = graph.stat()
    data = bytearray(graph.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8] = b"\0" * 8  # a weight or two
    graph.write_bytes(data)
    os.utime(graph, ns=(before.st_atime_ns, before.st_mtime_ns))  # even with the time of the old one
    read = compilations(monkeypatch)
    expected = speak(mine, keep=False)
    read.clear()
    assert np.array_equal(speak(mine), expected)
    assert [path.stem for path in read] == ["vocoder"]
    read.clear()
    speak(mine)
    assert read == []  # made anew, and kept
    for what in ("stonechat", "numpy", "cpu", "python"):
        changed = {**cache._machine(), what: "another"}
        with monkeypatch.context() as patch:
            patch.setattr(cache, "_machine", lambda changed=changed: changed)
            read.clear()
            speak(mine)
            assert len(read) == 4


def test_a_damaged_model_is_told_though_it_was_kept(home: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(TINY, tmp_path / "mine")
    speak(mine, keep=True)
    graph = mine / "pitch.onnx"
    graph.write_bytes(graph.read_bytes()[:-100])
    with pytest.raises(ModelError):
        speak(mine)


def test_a_home_that_cannot_be_written_is_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        assert len(speak(keep=True))
    told = [str(w.message) for w in caught]
    assert len(told) == 1
    assert "XDG_CACHE_HOME" in told[0]


def test_folder_of_the_service_then_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "stonechat"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache.folder() == Path("/x/stonechat")
    monkeypatch.setenv("CACHE_DIRECTORY", "/var/cache/stonechat:/other")
    assert cache.folder() == Path("/var/cache/stonechat")


def test_many_writers_and_readers_at_once(home: Path) -> None:
    graph, longest = TINY / "pitch.onnx", LONGEST["pitch"]
    expected = cache.compiled(graph, longest, keep=False).constants
    faults: list[object] = []

    def work() -> None:
        try:
            for _ in range(8):
                cache._write(kept, made, key)
                found = cache._read(kept, key)
                if any(found.constants[n].tobytes() != x.tobytes() for n, x in expected.items()):
                    faults.append("mixed")
        except Exception as error:
            faults.append(error)

    kept, made, key = (
        cache.kept_file(graph),
        compile_graph(load_graph(graph), longest),
        cache.make_key(graph, longest),
    )
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [path for path in home.iterdir() if path.name.startswith(".")] == []


def test_warmup_command_leaves_a_cache_and_tells(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warmup", "--model", str(TINY)]) == 0
    out = capsys.readouterr().out
    assert str(home) in out
    assert "after its start" in out
    assert len(list(home.iterdir())) == 4


def test_say_with_and_without_warmup_is_the_same_sound(home: Path, tmp_path: Path) -> None:
    for name, options in (("a", []), ("b", ["--warmup"]), ("c", [])):
        assert main(["say", "--model", str(TINY), "-o", str(tmp_path / name), *options, TEXT]) == 0
        assert home.exists() == (name != "a")
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1


def test_a_start_loads_nothing_that_it_does_not_need() -> None:
    code = "import sys, stonechat.cli; print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = [
        "subprocess",
        "importlib.metadata",
        "sounddevice",
        "asyncio",
        "stonechat.doctor",
        "stonechat.serve",
    ]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
