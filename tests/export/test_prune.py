"""2:4 patterns and the training that leads to them."""

import copy
import csv
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("soundfile")

from stonechat.errors import OptionError  # noqa: E402
from stonechat.export import prune, sparse_train, train  # noqa: E402
from stonechat.export.cli import main  # noqa: E402
from stonechat.export.pack import load_student, load_weights, save_weights  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "data"))
from make_tiny_voice import tiny_student  # noqa: E402

pytestmark = pytest.mark.export


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 99))
def test_two_of_every_four_stay_the_same_for_a_block(groups: int, blocks: int, seed: int) -> None:
    torch.manual_seed(seed)
    weight = torch.randn(32 * blocks, 4 * groups)
    outputs = prune.block_outputs(len(weight), 32)
    mask = prune.magnitude_mask(weight, 32)
    assert (mask.unflatten(1, (-1, 4)).sum(-1) == 2).all()
    for block in mask.split(outputs):
        assert (block == block[0]).all()
    kept = (weight.abs() * mask).sum()
    assert kept >= (weight.abs() * ~mask).sum()
    assert prune.is_pruned(weight * mask, outputs)
    assert not prune.is_pruned(weight, outputs)


def test_the_pair_of_largest_summed_magnitude_stays() -> None:
    weight = torch.zeros(64, 4)
    weight[:32] = torch.tensor([1.0, -5.0, 0.5, 3.0])
    weight[32:] = torch.tensor([2.0, 0.0, -4.0, 1.0])
    mask = prune.magnitude_mask(weight, 32)
    assert mask[0].tolist() == [False, True, False, True]
    assert mask[63].tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("outputs", "wish", "block"),
    [
        (672, 112, 112),
        (224, 112, 112),
        (1923, 112, 641),
        (448, 56, 56),
        (96, 112, 96),
        (3, 112, 3),
        (37, 112, 37),
    ],
)
def test_blocks_divide_the_outputs(outputs: int, wish: int, block: int) -> None:
    assert prune.block_outputs(outputs, wish) == block


def test_random_masks_prune_the_share_they_are_told() -> None:
    torch.manual_seed(0)
    weight = torch.randn(64, 4000)
    for share in (0.0, 0.3, 1.0):
        mask = prune.random_mask(weight, share, 1.0, 32)
        pruned = (mask.unflatten(1, (-1, 4)).sum(-1) == 2).float().mean()
        assert pruned == pytest.approx(share, abs=0.04)
    torch.testing.assert_close(prune.random_mask(weight, 1.0, 0.0, 32), prune.magnitude_mask(weight, 32))
    first, second = (prune.random_mask(weight, 1.0, 1.0, 32) for _ in range(2))
    assert (first != second).any()


def test_a_student_is_pruned_where_it_counts() -> None:
    student = tiny_student()
    before = copy.deepcopy(student.state_dict())
    assert prune.sparse_share(before) == 0
    prune.prune(student, 32)
    after = student.state_dict()
    assert prune.sparse_share(after, 32) > 0.9
    same = [n for n in before if torch.equal(before[n], after[n])]
    assert {"acoustic.enter.weight", "vocoder.blocks.0.conv.weight", "encoder.duration.weight"} <= set(same)
    assert all(n.startswith(("acoustic", "vocoder")) for n in set(before) - set(same))


def test_dropped_weights_learn_and_are_pulled_to_zero() -> None:
    layer = sparse_train.SparseLinear(torch.nn.Linear(4, 32))
    layer.mask = torch.tensor([True, True, False, False]).expand(32, 4)
    y = layer(torch.ones(1, 4))
    torch.testing.assert_close(y[0], layer.weight[:, :2].sum(1) + layer.bias)
    y.sum().backward()
    expected = 1 + sparse_train.PULL * layer.weight * ~layer.mask
    torch.testing.assert_close(layer.weight.grad, expected)


def test_schedule_goes_from_random_to_magnitude_to_fixed() -> None:
    schedule = sparse_train.SparseSchedule(1000, 100)
    phases = [schedule.phase(step) for step in (1000, 1019, 1020, 1049, 1050, 1099)]
    assert phases == ["random", "random", "magnitude", "magnitude", "fixed", "fixed"]
    assert schedule.randomness(1000) == (0, 1)
    assert schedule.randomness(1010) == (0.875, 0.5)
    with pytest.raises(OptionError, match="--fixed"):
        sparse_train.SparseSchedule(0, 100, random=0.6)
    with pytest.raises(OptionError, match="--outputs"):
        sparse_train.SparseSchedule(0, 100, outputs=8)


@pytest.mark.parametrize("kind", ["regression", "adversarial"])
def test_sparse_training_ends_sparse_and_resumes(kind: str, corpus: Path, tmp_path: Path) -> None:
    student = tiny_student()
    save_weights(student, 40, tmp_path / "dense.pt")
    network, weights, begin = load_weights(tmp_path / "dense.pt")
    settings = train.TrainConfig(batch=2, warmup=1, save_every=3, cooldown=4, ema=0.5)
    schedule = sparse_train.SparseSchedule(begin, 10, outputs=32)
    trainers = {
        "regression": sparse_train.SparseTrainer,
        "adversarial": sparse_train.SparseAdversarialTrainer,
    }
    folder = tmp_path / "run"
    for steps in (43, 47, 50):  # in the random, the magnitude and the fixed phase
        trainer = trainers[kind](folder, network, settings, schedule)
        train.train([corpus], trainer, steps, (weights, begin))
    made, step = load_student(folder / "checkpoint.pt")
    assert step == 50
    assert prune.sparse_share(made.state_dict(), 32) > 0.9
    for name, mask in trainer.fixed.items():
        assert not trainer.student.get_parameter(f"{name}.weight")[~mask].any()
        assert (
            made.get_parameter(f"{name}.weight")[mask].ne(student.get_parameter(f"{name}.weight")[mask]).any()
        )
    rows = list(csv.DictReader((folder / "train.csv").open()))
    assert [int(row["step"]) for row in rows] == [42, 43, 45, 47, 48, 50]


def test_the_command_trains(corpus: Path, tmp_path: Path) -> None:
    save_weights(tiny_student(), 5, tmp_path / "dense.pt")
    arguments = [
        "--corpus",
        str(corpus),
        "--run",
        str(tmp_path / "run"),
        "--start",
        str(tmp_path / "dense.pt"),
    ]
    assert main(["prune", *arguments, "--steps", "2", "--batch", "2", "--outputs", "32"]) == 0
    student, step = load_student(tmp_path / "run" / "checkpoint.pt")
    assert step == 7
    assert prune.sparse_share(student.state_dict(), 32) > 0.9
    assert (tmp_path / "run" / "spectrograms.png").exists()
    assert main(["prune", *arguments, "--steps", "0"]) == 2
