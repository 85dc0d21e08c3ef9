"""The pipeline runs every step that is not done yet, in order, and stops where one fails."""

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("soundfile")

from stonechat.export.cli import parser  # noqa: E402
from stonechat.export.pack import save_weights  # noqa: E402
from stonechat.export.steps import pipeline  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "data"))
from make_tiny_voice import tiny_student  # noqa: E402

pytestmark = pytest.mark.export


class Commands:
    """Leaves behind what each command would, and remembers what ran."""

    def __init__(self, failing: str = "") -> None:
        self.ran: list[str] = []
        self.failing = failing

    def __call__(self, argv: Sequence[str]) -> int:
        name, options = argv[0], dict(pairwise(argv))
        self.ran.append(name)
        if name == self.failing:
            return 3
        if name in ("train", "prune"):
            begin = 7 if name == "prune" else 0
            folder = Path(options["--run"])
            folder.mkdir(parents=True, exist_ok=True)
            save_weights(tiny_student(), begin + int(options["--steps"]), folder / "checkpoint.pt")
        elif name in ("pack", "quantise"):
            folder = Path(options["--out"])
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "voice.json").write_text("{}")
        return 0


def arguments(folder: Path, *more: str) -> argparse.Namespace:
    common = ["--corpus", "corpus", "--run", str(folder / "run"), "--out", str(folder / "voice")]
    return parser().parse_args(["pipeline", *common, "--steps", "7", "--sparse-steps", "5", *more])


def test_each_step_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = Commands(), Commands()
    assert pipeline(arguments(tmp_path), first) == 0
    assert first.ran == ["train", "prune", "pack", "quantise", "verify"]
    assert pipeline(arguments(tmp_path), second) == 0
    assert second.ran == ["verify"]
    assert capsys.readouterr().out.count("done before") == 4


def test_a_failing_step_is_the_last_and_is_taken_up_again(tmp_path: Path) -> None:
    failing, whole = Commands("pack"), Commands()
    assert pipeline(arguments(tmp_path), failing) == 3
    assert failing.ran == ["train", "prune", "pack"]
    assert pipeline(arguments(tmp_path), whole) == 0
    assert whole.ran == ["pack", "quantise", "verify"]


def test_dense_weights_of_ones_own_leave_out_training(tmp_path: Path) -> None:
    save_weights(tiny_student(), 7, tmp_path / "mine.pt")
    commands = Commands()
    assert pipeline(arguments(tmp_path, "--start", str(tmp_path / "mine.pt")), commands) == 0
    assert commands.ran == ["prune", "pack", "quantise", "verify"]
