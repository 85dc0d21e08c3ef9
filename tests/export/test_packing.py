"""The compact form: smaller files that three engines read alike, behind a gate; models of others; a whole voice."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

torch = pytest.importorskip("torch")
pytest.importorskip("soundfile")

import onnxruntime  # noqa: E402
import stonechat  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from stonechat.engine import Program, load_graph  # noqa: E402
from stonechat.errors import ModelError, OptionError  # noqa: E402
from stonechat.export.cli import main  # noqa: E402
from stonechat.export.compact import find_layers, patterns_of  # noqa: E402
from stonechat.export.convert import convert, prune_model  # noqa: E402
from stonechat.export.verify import reference_evaluator  # noqa: E402

pytestmark = pytest.mark.export
TINY = Path(__file__).parent.parent / "data" / "tiny_voice"
INPUTS, HIDDEN, OUTPUTS = 64, 224, 112


def mlp(extra: str | None = None) -> onnx.ModelProto:
    """Linear, Relu, Linear over rows; `extra` is an operator in between."""
    rng = np.random.default_rng(0)
    weights = {"w": (INPUTS, HIDDEN), "v": (HIDDEN, OUTPUTS)}
    tensors = [
        numpy_helper.from_array((rng.standard_normal(shape) / 8).astype(np.float32), name)
        for name, shape in weights.items()
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "up"),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
    ]
    if extra:
        nodes.append(helper.make_node(extra, ["b"], ["c"], extra))
    nodes.append(helper.make_node("MatMul", ["c" if extra else "b", "v"], ["y"], "down"))
    shapes = {"x": [1, "T", INPUTS], "y": [1, "T", OUTPUTS]}
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items())
    model = helper.make_model(helper.make_graph(nodes, "mlp", [x], [y], tensors))
    model.opset_import[0].version, model.ir_version = 17, 8
    return model


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A model and its calibration data."""
    onnx.save(mlp(), tmp_path / "mlp.onnx")
    x = np.random.default_rng(1).standard_normal((4, 1, 6, INPUTS)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=x)
    return tmp_path / "mlp.onnx", tmp_path / "data.npz"


def run_engine(model: onnx.ModelProto, x: np.ndarray, weights: str) -> np.ndarray:
    program = Program(load_graph(model.SerializeToString()), {"T": x.shape[1]}, weights)
    program.place(np.zeros(program.weight_bytes + 64, np.uint8), np.zeros(program.arena_bytes + 64, np.uint8))
    bound = program.bind({"T": x.shape[1]}, None)
    bound.inputs["x"][...] = x
    bound.run()
    return bound.outputs["y"].copy()


def test_a_model_of_others_is_pruned_packed_and_read_alike(files: tuple[Path, Path], tmp_path: Path) -> None:
    model, data = files
    out = tmp_path / "packed.onnx"
    assert main(["convert", str(model), "--calib", str(data), "--out", str(out), "--prune"]) == 0
    assert out.stat().st_size < model.stat().st_size / 4
    report = json.loads((tmp_path / "packed-report" / "report.json").read_text("utf8"))
    assert report["sound_db"]["mean"] >= 42
    assert (tmp_path / "packed-report" / "report.html").stat().st_size > 1000
    packed, x = onnx.load(out), np.load(data)["x"][0]
    pruned = ReferenceEvaluator(prune_model(mlp())).run(["y"], {"x": x})[0]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(packed.SerializeToString(), options)
    made = [
        run_engine(packed, x, "float32"),
        run_engine(packed, x, "int8"),
        session.run(["y"], {"x": x})[0],
        reference_evaluator(packed).run(["y"], {"x": x})[0],
    ]
    for other in made:
        np.testing.assert_allclose(other, made[0], atol=1e-5)
        assert np.square(other - pruned).sum() < np.square(pruned).sum() * 10**-4.2


def test_pruning_by_magnitude_makes_every_layer_sparse() -> None:
    model = prune_model(mlp())
    assert set(patterns_of(model)) == set(find_layers(model)) == {"w", "v"}
    assert patterns_of(mlp()) == {}


def test_what_cannot_be_run_is_named_before_any_work(tmp_path: Path, files: tuple[Path, Path]) -> None:
    onnx.save(mlp("Celu"), tmp_path / "odd.onnx")
    with pytest.raises(ModelError, match=r"Celu \(1\)"):
        convert(tmp_path / "odd.onnx", files[1], tmp_path / "work")
    assert not (tmp_path / "work").exists()
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(ModelError, match="no ONNX model"):
        convert(tmp_path / "text.onnx", files[1], tmp_path / "work")


@pytest.mark.parametrize("arrays", [{}, {"z": np.zeros(3)}, {"x": np.zeros((2, 3), np.float32)}])
def test_data_that_does_not_fit_is_refused(
    files: tuple[Path, Path], tmp_path: Path, arrays: dict[str, np.ndarray]
) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(OptionError, match=r"bad\.npz"):
        convert(files[0], tmp_path / "bad.npz", tmp_path / "work")


def test_a_gate_out_of_reach_writes_nothing(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "packed.onnx"
    command = ["convert", str(files[0]), "--calib", str(files[1]), "--out", str(out), "--gate", "150"]
    assert main(command) == 2
    assert not out.exists()


def test_a_voice_is_packed_and_speaks_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("你好，世界。\nHello there.\nTurn left.\n谢谢。\n", "utf8")
    out = tmp_path / "tiny8"
    common = ["--texts", str(texts), "--sentences", "3"]
    work = ["--work", str(tmp_path / "work"), "--tuned", "1"]
    assert main(["quantise", str(TINY), *common, *work, "--out", str(out)]) == 0
    before, after = (sum(f.stat().st_size for f in d.glob("*.onnx")) for d in (TINY, out))
    assert after < 0.7 * before  # half of this voice is tensors too small to count
    assert main(["verify", str(out), "--against", str(TINY), *common]) == 1
    told = capsys.readouterr().out
    assert "mean SNR over 3 clauses" in told
    assert [line for line in told.splitlines() if line.startswith("FAIL")] == [
        line for line in told.splitlines() if "share of weights that are 2:4" in line
    ]
    waves = []
    for weights in ("float32", "int8"):
        with stonechat.load(str(out), weights=weights) as voice:
            waves.append(voice.inference("Hello there.", seed=3)[0])
    assert len(waves[0]) == len(waves[1])
    np.testing.assert_allclose(waves[0], waves[1], atol=1e-3)
