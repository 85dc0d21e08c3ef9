"""Voice packs that are missing, damaged, foreign or of another format."""

import json
from pathlib import Path

import pytest
from stonechat import VoiceError
from stonechat.facts import GRAPHS, find_voice, read_facts

FACTS = {
    "format": 1,
    "name": "tiny",
    "rate_hz": 24000,
    "hop": 320,
    "window": 1280,
    "chunk_frames": 3,
    "lookahead_frames": 6,
    "duration_unit": 600,
    "log_f0_centre": 5.4,
    "top_hz": 11000.0,
    "speakers": {"a": 0, "b": 1},
    "defaults": {"zh": "a", "en": "b"},
    "styles": [[0.0] * 4, [1.0] * 4],
    "card": {},
}


def write(folder: Path, **changes: object) -> Path:
    content = {k: v for k, v in {**FACTS, **changes}.items() if v is not None}
    (folder / "voice.json").write_text(json.dumps(content), "utf8")
    for graph in GRAPHS:
        (folder / f"{graph}.onnx").touch()
    return folder


def test_reads_what_is_there(tmp_path: Path) -> None:
    facts = read_facts(write(tmp_path))
    assert facts.styles.shape == (2, 4)
    assert facts.speaker(None, "mix") == 0
    assert facts.speaker(None, "en") == 1
    assert facts.speaker("a", "en") == 0


def test_speaker_unknown_lists_them(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="a, b"):
        read_facts(write(tmp_path)).speaker("c", "en")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": 2}, "update stonechat"),
        ({"format": "x"}, "pack the voice again"),
        ({"format": None}, "no voice description"),
        ({"hop": None}, "incomplete"),
        ({"unknown": 1}, "incomplete"),
        ({"styles": "x"}, "incomplete"),
        ({"styles": [0.0, 1.0]}, "damaged: styles"),
        ({"styles": [[float("nan")] * 4] * 2}, "damaged: styles"),
        ({"hop": 640}, "four hops"),
        ({"hop": "x", "window": "xxxx"}, "hop is"),
        ({"rate_hz": 0}, "rate_hz"),
        ({"chunk_frames": 10**9}, "chunk_frames"),
        ({"lookahead_frames": 12}, "lookahead_frames"),
        ({"duration_unit": -1}, "duration_unit"),
        ({"log_f0_centre": float("nan")}, "log_f0_centre"),
        ({"top_hz": 1e9}, "top_hz"),
        ({"speakers": {"a": 0, "b": 2}}, "speakers"),
        ({"speakers": {"a": 0, "b": -1}}, "speakers"),
        ({"speakers": []}, "incomplete"),
        ({"defaults": {}}, "defaults"),
        ({"defaults": {"zh": "a", "en": "c"}}, "defaults"),
    ],
)
def test_faults_are_named(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    with pytest.raises(VoiceError, match=says):
        read_facts(write(tmp_path, **changes))


def test_lacking_graph_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "pitch.onnx").unlink()
    with pytest.raises(VoiceError, match=r"pitch\.onnx"):
        read_facts(tmp_path)


def test_no_json_at_all(tmp_path: Path) -> None:
    (tmp_path / "voice.json").write_bytes(b"\x00\xff{")
    with pytest.raises(VoiceError, match="no voice description"):
        read_facts(tmp_path)


def test_unknown_voice_lists_voices() -> None:
    with pytest.raises(VoiceError, match="default"):
        find_voice("no such voice")
