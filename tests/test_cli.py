"""The command line, run in this process; the tiny voice speaks."""

import io
import subprocess
import sys
import time
import wave
from pathlib import Path

import numpy as np
import pytest
from stonechat.cli import main

TINY = str(Path(__file__).parent / "data" / "tiny_voice")
SAY = ["say", "--model", TINY]


def read_wav(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24000, 1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


class Stdin:
    """Standard input with text in it."""

    def __init__(self, text: str) -> None:
        self.buffer = io.BytesIO(text.encode())
        self.lines = text.splitlines(keepends=True)

    def isatty(self) -> bool:
        return False

    def __iter__(self) -> object:
        return iter(self.lines)


def test_text_to_a_wav_file(tmp_path: Path) -> None:
    out = tmp_path / "a.wav"
    assert main([*SAY, "-o", str(out), "Turn", "left."]) == 0
    assert len(read_wav(out)) > 12_000


@pytest.mark.parametrize("how", ["--file", "stdin", "-"])
def test_text_from_file_and_standard_input(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.txt").write_text("\ufeff右转。", "utf8")
    monkeypatch.setattr(sys, "stdin", Stdin("右转。"))
    source = {"--file": ["--file", str(tmp_path / "t.txt")], "stdin": [], "-": ["-"]}[how]
    assert main([*SAY, "-o", str(tmp_path / "a.wav"), *source]) == 0
    assert main([*SAY, "-o", str(tmp_path / "b.wav"), "右转。"]) == 0
    assert np.array_equal(read_wav(tmp_path / "a.wav"), read_wav(tmp_path / "b.wav"))


def test_options_reach_the_voice(tmp_path: Path) -> None:
    for name, options in {
        "a": [],
        "b": ["--speed", "0.8"],
        "c": ["--voice", "heart"],
        "d": ["--seed", "9"],
    }.items():
        assert main([*SAY, "-o", str(tmp_path / f"{name}.wav"), *options, "你好，世界。"]) == 0
    sounds = [read_wav(tmp_path / f"{name}.wav") for name in "abcd"]
    assert len(sounds[1]) > len(sounds[0])
    assert not np.array_equal(sounds[0], sounds[2])
    assert not np.array_equal(sounds[0], sounds[3])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--speed", "9", "x"], "speed"),
        (["--volume", "-1", "x"], "volume"),
        (["--chunk-ms", "7", "x"], "chunk_ms"),
        (["--voice", "nobody", "x"], "xiaobei, heart"),
        (["--model", "nowhere", "x"], "no voice"),
        (["--file", "nowhere.txt"], "cannot read"),
        (["--file", "nowhere.txt", "x"], "not both"),
    ],
)
def test_wrong_calls_are_told(
    tmp_path: Path, options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SAY, "-o", str(tmp_path / "a.wav"), *options]) == 2
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_unwritable_output_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SAY, "-o", str(tmp_path / "none" / "a.wav"), "x"]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_no_sound_device_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    assert main([*SAY, "x"]) == 2
    assert "-o" in capsys.readouterr().err


def test_with_a_file_playing_is_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    assert main([*SAY, "--play", "-o", str(tmp_path / "a.wav"), "x"]) == 0
    assert len(read_wav(tmp_path / "a.wav"))


def test_pcm_to_standard_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Stdout:
        buffer = io.BytesIO()

        def isatty(self) -> bool:
            return False

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stdout", Stdout())
    assert main([*SAY, "-o", "-", "右转。"]) == 0
    monkeypatch.undo()
    assert main([*SAY, "-o", str(tmp_path / "a.wav"), "右转。"]) == 0
    assert Stdout.buffer.getvalue() == read_wav(tmp_path / "a.wav").tobytes()


def test_normalise_and_phonemes_answer_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin("重庆\n\nTurn left.\n"))
    assert main(["phonemes", "--format", "pinyin", "-"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0].startswith("chong2 qing4")
    assert lines[1] == ""
    assert len(lines) == 4
    assert main(["normalise", "It costs $500."]) == 0
    assert "five hundred dollars" in capsys.readouterr().out


def test_answers_come_line_by_line_through_a_pipe() -> None:
    command = [sys.executable, "-m", "stonechat", "phonemes", "--format", "pinyin", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        answers = []
        for line in ("重庆 abc", "", "\ufeff一样\x0c好", "😀", "\u2028", "a\rb"):
            child.stdin.write(f"{line}\n".encode())
            child.stdin.flush()
            answers.append(child.stdout.readline().decode())  # hangs where the answer is not sent at once
        child.stdin.write(b"\xff\xfe last")
        child.stdin.close()
        assert child.stdout.readlines() == [b"last\n"]
    assert answers == ["chong2 qing4 abc\n", "\n", "yi2 yang4 hao3\n", "\n", "\n", "a b\n"]
    assert child.returncode == 0


def test_explain_prints_a_block_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin("重庆\n\n3km\n"))
    assert main(["phonemes", "--format", "pinyin", "--explain", "-"]) == 0
    first, second, third = capsys.readouterr().out.split("\n\n")[:3]
    assert first.splitlines() == [
        "source  spoken  rule        pinyin        from",
        "重庆    重庆    as written  chong2 qing4  phrase with its own reading",
    ]
    assert second.splitlines()[2].split() == ["3km", "three", "unit", "three", "lexicon", "'three'"]
    assert second.startswith("\nsource")  # after the block of the empty line
    assert third == ""
    assert main(["normalise", "--explain", "$5 **now**"]) == 0
    assert "$5      five dollars  money" in capsys.readouterr().out


def test_own_lexicon_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("Quokkle\twin\nbad line\n", "utf-8")
    assert main(["phonemes", "--lexicon", str(own), "Quokkle"]) == 0
    told = capsys.readouterr()
    assert told.out == "wˈɪn.\n"
    assert "own.tsv, line 2" in told.err
    for name, options in {"a": ["--lexicon", str(own), "Quokkle"], "b": ["win"], "c": ["Quokkle"]}.items():
        assert main([*SAY, "-o", str(tmp_path / f"{name}.wav"), *options]) == 0
    sounds = [read_wav(tmp_path / f"{name}.wav") for name in "abc"]
    assert np.array_equal(sounds[0], sounds[1])
    assert not np.array_equal(sounds[0][: len(sounds[2])], sounds[2][: len(sounds[0])])
    for command in (["phonemes"], ["normalise"], [*SAY, "-o", str(tmp_path / "d.wav")]):
        assert main([*command, "--lexicon", "nowhere.tsv", "x"]) == 2
        assert "user dictionary" in capsys.readouterr().err


def test_symbols_are_read_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["normalise", "--read-symbols", "我❤️你"]) == 0
    assert capsys.readouterr().out == "我，红心，你\n"
    assert main([*SAY, "-o", str(tmp_path / "a.wav"), "--read-symbols", "❤️"]) == 0
    assert len(read_wav(tmp_path / "a.wav"))


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["say", "--help"])
    assert "examples:" in capsys.readouterr().out


def test_other_encodings_are_read_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "t.txt"
    text.write_bytes("右转。".encode("utf-16"))
    assert main([*SAY, "-o", str(tmp_path / "a.wav"), "--file", str(text)]) == 0
    text.write_bytes("前方右转。".encode("gbk"))
    assert main([*SAY, "-o", str(tmp_path / "b.wav"), "--file", str(text)]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_nothing_to_say_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SAY, "-o", str(tmp_path / "a.wav"), "..."]) == 0
    assert "nothing to speak" in capsys.readouterr().err
    assert main([*SAY, "-o", "", "x"]) == 2


@pytest.mark.parametrize(
    "shell",
    [
        "{say} -o a.wav <&-",
        "{say} -o - hi >&-",
        "{say} -o - hi >/dev/full",
        "{python} -m stonechat normalise hi >/dev/full",
    ],
)
def test_closed_and_full_streams_are_told(tmp_path: Path, shell: str) -> None:
    python = sys.executable
    command = shell.format(python=python, say=f"{python} -m stonechat say --model {TINY}")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("stonechat: ")


def test_terminated_leaves_no_half_file(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stonechat", "say", "--model", TINY, "-o", "a.wav", "好。" * 10_000]
    child = subprocess.Popen(command, cwd=tmp_path)
    deadline = time.monotonic() + 30
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.5)
    child.terminate()
    assert child.wait(30) == 143
    assert not list(tmp_path.iterdir())
