"""The teacher's graph is expanded right, its errors name the remedy, corpora have the published format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
soundfile = pytest.importorskip("soundfile")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("tqdm")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from stonechat.errors import ModelError, OptionError, TextError, VoiceError  # noqa: E402
from stonechat.export import corpus_maker, teacher, teacher_graph  # noqa: E402

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
SYMBOLS = {symbol: number for number, symbol in enumerate("abcd .", 1)}
pytestmark = pytest.mark.export


@dataclass(frozen=True)
class Clause:
    text: str
    phonemes: str
    lang: str = "en"


class CommaFrontend:
    """Splits at commas; what is said is what is written."""

    def clauses(self, text: str) -> list[Clause]:
        return [Clause(part, part.strip()) for part in text.split(",") if part]


class Humming:
    """A stand-in for the teacher: every symbol is one unit of a tone. Counts what it is asked."""

    symbols = SYMBOLS

    def __init__(self) -> None:
        self.asked: list[str] = []

    def speak(self, phonemes: str, voice: str) -> teacher.Speech:
        self.asked.append(phonemes)
        if not set(phonemes) <= set(SYMBOLS):
            raise TextError("no such symbol")
        ids = np.array([0, *(SYMBOLS[symbol] for symbol in phonemes), 0])
        samples = (0.2 * np.sin(np.arange(600 * len(ids)) * 0.05)).astype(np.float32)
        curve = np.full(2 * len(ids), 150.0, np.float32)
        return teacher.Speech(samples, ids, np.ones(len(ids), np.int64), curve, curve / 100)


def write_texts(folder: Path, *lines: str) -> Path:
    path = folder / "texts.txt"
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_corpus_has_the_published_format(tmp_path: Path) -> None:
    lines = corpus_maker.read_lines(write_texts(tmp_path, "ab cd.", "", "dd.", "ab cd."), CommaFrontend())
    refused = corpus_maker.make_corpus(lines, "hum", Humming(), corpus_maker.CorpusFolder(tmp_path / "out"))
    assert not refused
    rows = [json.loads(row) for row in (tmp_path / "out" / "corpus.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["00000", "00001"]
    assert list(rows[0]) == ["id", "lang", "voice", "text", "phonemes", "samples", "dur", "frames"]
    assert rows[1]["dur"] == [8, 13]
    assert rows[1]["frames"] == [16, 26]
    features = np.load(tmp_path / "out" / "features.npz")
    assert {name: features[name].dtype for name in features} == corpus_maker.FEATURES
    assert list(features["ids"][8:13]) == [0, 4, 4, 6, 0]
    for row in rows:
        assert features["durations"][slice(*row["dur"])].sum() * teacher.DURATION_UNIT == row["samples"]
        wav, rate = soundfile.read(tmp_path / "out" / "audio" / f"{row['id']}.opus")
        assert (len(wav), rate) == (row["samples"], teacher.RATE)
    assert json.loads((tmp_path / "out" / "vocab.json").read_text("utf-8")) == {"vocab": SYMBOLS}


def test_corpus_resumes_and_extends(tmp_path: Path) -> None:
    first, second = Humming(), Humming()
    lines = corpus_maker.read_lines(write_texts(tmp_path, "ab.", "cd."), CommaFrontend())
    corpus_maker.make_corpus(lines[:1], "hum", first, corpus_maker.CorpusFolder(tmp_path))
    (tmp_path / "parts" / "00001.partial").write_bytes(b"stopped while writing")
    corpus_maker.make_corpus(lines, "hum", second, corpus_maker.CorpusFolder(tmp_path))
    assert (first.asked, second.asked) == (["ab."], ["cd."])
    corpus_maker.make_corpus(lines, "whistle", second, corpus_maker.CorpusFolder(tmp_path))
    rows = [json.loads(row) for row in (tmp_path / "corpus.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["voice"]) for row in rows] == [
        ("00000", "hum"), ("00001", "hum"), ("00002", "whistle"), ("00003", "whistle"),
    ]  # fmt: skip


def test_what_cannot_be_spoken_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    lines = corpus_maker.read_lines(write_texts(tmp_path, "xyz.", "ab."), CommaFrontend())
    refused = corpus_maker.make_corpus(lines, "hum", Humming(), corpus_maker.CorpusFolder(tmp_path / "out"))
    assert refused == ["xyz.: no such symbol"]
    assert (tmp_path / "out" / "audio" / "00000.opus").exists()


def test_long_lines_are_spoken_by_clause() -> None:
    short = list(corpus_maker.utterances("ab, cd.", CommaFrontend()))
    assert [line.phonemes for line in short] == ["ab cd."]
    long = list(corpus_maker.utterances(f"{'a' * 120},{'b' * 120}", CommaFrontend()))
    assert [len(line.phonemes) for line in long] == [120, 120]


def test_nothing_to_speak_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="nothing to speak"):
        corpus_maker.read_lines(write_texts(tmp_path, "", " "), CommaFrontend())
    with pytest.raises(OptionError, match="cannot read"):
        corpus_maker.read_lines(tmp_path / "missing.txt", CommaFrontend())


def quantised_graph() -> onnx.ModelProto:
    """x (1, 2, N) -> a quantised Conv with bias -> a quantised MatMul, as onnxruntime's tool writes them."""
    rng = np.random.default_rng(0)
    conv_weight = rng.integers(0, 255, (3, 2, 1), dtype=np.uint8)
    weights = {
        "cw": conv_weight, "cs": np.float32(0.01), "cz": np.uint8(128),
        "b": np.array([0.5, -1, 2], np.float32), "shape": np.array([1, 3, 1]),
        "mw": rng.integers(-127, 127, (3, 4), dtype=np.int8),
        "ms": np.full(4, 0.02, np.float32), "mz": np.zeros(4, np.int8),
    }  # fmt: skip
    node = helper.make_node
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"]),
        node("ConvInteger", ["xq", "cw", "xz", "cz"], ["ci"], kernel_shape=[1]),
        node("Mul", ["xs", "cs"], ["bs"]), node("Div", ["b", "bs"], ["bd"]), node("Floor", ["bd"], ["bf"]),
        node("Cast", ["bf"], ["bq"], to=TensorProto.INT32), node("Reshape", ["bq", "shape"], ["br"]),
        node("Add", ["ci", "br"], ["ca"]), node("Cast", ["ca"], ["cf"], to=TensorProto.FLOAT),
        node("Mul", ["cf", "bs"], ["c"]), node("Transpose", ["c"], ["t"], perm=[0, 2, 1]),
        node("DynamicQuantizeLinear", ["t"], ["tq", "ts", "tz"]),
        node("MatMulInteger", ["tq", "mw", "tz", "mz"], ["mi"]), node("Mul", ["ts", "ms"], ["mss"]),
        node("Cast", ["mi"], ["mf"], to=TensorProto.FLOAT), node("Mul", ["mf", "mss"], ["y"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "quantised",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, "n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "n", 4])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_expanded_graph_computes_in_float_what_the_quantised_one_rounds() -> None:
    model = quantised_graph()
    x = np.random.default_rng(1).normal(size=(1, 2, 5)).astype(np.float32)
    rounded = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    teacher_graph.expand_weights(model)
    exact = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    conv = (values["cw"][:, :, 0].astype(np.float32) - 128) * 0.01
    wanted = (conv @ x[0] + values["b"][:, None]).T @ (values["mw"] * np.float32(0.02))
    np.testing.assert_allclose(exact[0], wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(exact, rounded, atol=0.02 * np.abs(wanted).max())
    assert sorted(node.op_type for node in model.graph.node) == ["Conv", "MatMul", "Transpose"]


def test_a_foreign_graph_is_refused() -> None:
    with pytest.raises(ModelError, match="not the expected Kokoro"):
        teacher_graph.expose_prosody(quantised_graph())


def test_the_teacher_refuses_what_it_cannot_speak() -> None:
    styles = {"hum": np.zeros((510, 256), np.float32)}
    kokoro = teacher.Teacher(None, styles, SYMBOLS)
    with pytest.raises(OptionError, match="there are hum"):
        kokoro.speak("ab", "nobody")
    with pytest.raises(TextError, match="no symbol for x"):
        kokoro.speak("axb", "hum")
    for phonemes in ("", "a" * 510):
        with pytest.raises(TextError, match="1 to 509"):
            kokoro.speak(phonemes, "hum")


def test_missing_or_broken_files_name_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "MODEL_PACKAGES", ("no_such_model_1",))
    with pytest.raises(ModelError, match="pip install no-such-model-1"):
        teacher.model_file(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(VoiceError, match="put the voices"):
        teacher.voice_folder(tmp_path)
    (tmp_path / "short.bin").write_bytes(b"\0" * 8)
    with pytest.raises(VoiceError, match="not a Kokoro voice"):
        teacher.read_style(tmp_path / "short.bin")


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.exists(), reason="the training speech is not beside this checkout")
def test_the_teacher_says_the_corpus_again() -> None:
    pytest.importorskip(teacher.MODEL_PACKAGES[0])
    kokoro = teacher.Teacher.load()
    assert kokoro.symbols == teacher.read_symbols(CORPUS / "vocab.json")
    with (CORPUS / "corpus.jsonl").open(encoding="utf-8") as file:
        row = json.loads(next(row for row in file if '"lang": "zh"' in row))
    features = np.load(CORPUS / "features.npz")
    speech = kokoro.speak(row["phonemes"], row["voice"])
    np.testing.assert_array_equal(speech.ids, features["ids"][slice(*row["dur"])])
    np.testing.assert_array_equal(speech.durations, features["durations"][slice(*row["dur"])])
    np.testing.assert_allclose(speech.f0, features["f0"][slice(*row["frames"])], atol=1)
    np.testing.assert_allclose(speech.energy, features["energy"][slice(*row["frames"])], atol=0.1)
