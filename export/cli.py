"""The `stonechat-export` command: from a corpus to a voice pack."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stonechat.errors import OptionError, StonechatError

EXAMPLES = """the whole way, from a corpus (see shared/corpus/README.md for its format) to a voice:
  stonechat-export train  --corpus corpus/ --run runs/mine
  stonechat-export prune  --corpus corpus/ --run runs/sparse --start runs/mine/checkpoint.pt
  stonechat-export pack   --run runs/sparse --out runs/float32
  stonechat-export quantise runs/float32 --texts corpus/ --work runs/quantise --out voices/mine
  stonechat-export verify voices/mine
or all of these, each step once:
  stonechat-export pipeline --corpus corpus/ --run runs/all --out voices/mine
  stonechat say --model voices/mine "你好。"
a model that was not trained here:
  stonechat-export convert model.onnx --calib data.npz --out packed.onnx --prune
a corpus of one's own, spoken by the teacher:
  stonechat-export corpus --texts sentences.txt --voice zf_xiaobei --out corpus/
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    args, rest = parser().parse_known_args(argv)
    if rest and args.run is not run_corpus:
        parser().error(f"unrecognized arguments: {' '.join(rest)}")
    args.rest = rest
    try:
        run: Callable[[argparse.Namespace], int] = args.run
        return run(args)
    except StonechatError as error:
        print(f"stonechat-export: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(f"stonechat-export: {error}; pip install 'stonechat[export]'", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 2


def parser() -> argparse.ArgumentParser:
    """Every command and option, with its help."""
    top = argparse.ArgumentParser(
        "stonechat-export",
        description="Distil, train and pack a voice (needs the export extra).",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    train = commands.add_parser("train", help="train the student; resumes what the run folder holds")
    train.add_argument("--corpus", type=Path, nargs="+", required=True, help="one or more corpus folders")
    train.add_argument(
        "--run", dest="folder", type=Path, required=True, help="run folder: checkpoint, log, pictures"
    )
    train.add_argument("--steps", type=int, default=20_000, help="steps in all; default 20000")
    train.add_argument(
        "--cooldown", type=int, default=2000, help="of these, steps of falling learning rate at the end"
    )
    train.add_argument(
        "--adversarial", action="store_true", help="discriminators join: for the last steps of a run"
    )
    train.add_argument("--start", type=Path, help="begin from the weights file of a voice")
    train.add_argument("--batch", type=int, default=16)
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--device", default="cpu", help="cpu or cuda")
    train.set_defaults(run=run_train)
    prune = commands.add_parser(
        "prune",
        help="sparse training: from a voice's dense weights to 2:4; resumes what the run folder holds",
    )
    prune.add_argument("--corpus", type=Path, nargs="+", required=True, help="one or more corpus folders")
    prune.add_argument("--run", dest="folder", type=Path, required=True, help="run folder of its own")
    prune.add_argument(
        "--start", type=Path, required=True, help="dense weights: a weights file or checkpoint"
    )
    prune.add_argument("--steps", type=int, default=3000, help="steps of sparse training; default 3000")
    prune.add_argument(
        "--random", type=float, default=0.2, help="share of them with random patterns; default 0.2"
    )
    prune.add_argument(
        "--fixed",
        type=float,
        default=0.5,
        help="share of them, at the end, with the pattern fixed; default 0.5",
    )
    prune.add_argument("--outputs", type=int, default=112, help="outputs that share a pattern; default 112")
    prune.add_argument(
        "--rate", type=float, default=7e-4, help="learning rate, which falls in the fixed phase"
    )
    prune.add_argument("--adversarial", action="store_true", help="discriminators join")
    prune.add_argument("--batch", type=int, default=16)
    prune.add_argument("--seed", type=int, default=0)
    prune.add_argument("--device", default="cpu", help="cpu or cuda")
    prune.set_defaults(run=run_prune)
    pack = commands.add_parser("pack", help="write a voice pack from a run")
    pack.add_argument("--run", dest="folder", type=Path, help="run folder")
    pack.add_argument("--weights", type=Path, help="instead of --run: a weights file")
    pack.add_argument(
        "--out", type=Path, required=True, help="folder of the voice pack; its name names the voice"
    )
    pack.add_argument("--card", type=Path, help="JSON with licence, data and figures, for voice.json")
    pack.add_argument("--keep-weights", type=Path, help="also write the weights as float16, to train on from")
    pack.set_defaults(run=run_pack)
    _add_packing(commands)
    corpus = commands.add_parser("corpus", help="make a corpus: the teacher speaks sentences", add_help=False)
    corpus.set_defaults(run=run_corpus)
    return top


def _add_packing(commands: Any) -> None:
    """The commands behind training: quantise, verify, pipeline, convert."""
    texts_help = "a corpus folder, or a text file with a sentence a line"
    quantise = commands.add_parser(
        "quantise",
        help="write the packed form of a float32 voice pack: INT8, 2:4 layers as Gather and MatMul",
    )
    quantise.add_argument("pack", type=Path, help="float32 voice pack, as `pack` writes it")
    quantise.add_argument("--texts", type=Path, required=True, help=texts_help)
    quantise.add_argument("--out", type=Path, required=True, help="folder of the packed voice")
    quantise.add_argument(
        "--work", type=Path, required=True, help="plan, calibration and report; resumes there"
    )
    quantise.add_argument(
        "--gate", type=float, default=42.0, help="least SNR in dB against float32; default 42"
    )
    quantise.add_argument("--tuned", type=int, default=8, help="clauses each layer is tried on; default 8")
    quantise.add_argument("--sentences", type=int, default=200, help="the gate is measured on; default 200")
    quantise.add_argument(
        "--activations",
        action="store_true",
        help="INT8 activations too, where the gate allows; by KL divergence",
    )
    quantise.add_argument("--calibrate", type=int, default=2048, help="sentences for that; default 2048")
    quantise.set_defaults(run=run_quantise)
    verify = commands.add_parser(
        "verify", help="check a voice pack: three engines agree, stream equals batch, sizes, SNR"
    )
    verify.add_argument("pack", type=Path)
    verify.add_argument(
        "--against", type=Path, help="its float32 form: measures the SNR of every stage and the whole"
    )
    verify.add_argument("--texts", type=Path, help=f"with --against: {texts_help}")
    verify.add_argument("--sentences", type=int, default=200, help="with --against; default 200")
    verify.set_defaults(run=run_verify)
    pipeline = commands.add_parser(
        "pipeline", help="train, prune, pack, quantise, verify: every step that is not done yet"
    )
    pipeline.add_argument("--corpus", type=Path, required=True)
    pipeline.add_argument(
        "--run", dest="folder", type=Path, required=True, help="run folder, one sub-folder a step"
    )
    pipeline.add_argument("--out", type=Path, required=True, help="folder of the packed voice")
    pipeline.add_argument("--start", type=Path, help="dense weights: leaves out training")
    pipeline.add_argument("--steps", type=int, default=20_000, help="of dense training; default 20000")
    pipeline.add_argument("--sparse-steps", type=int, default=3000, help="of sparse training; default 3000")
    pipeline.add_argument("--card", type=Path, help="JSON with licence, data and figures, for voice.json")
    pipeline.add_argument("--device", default="cpu", help="cpu or cuda")
    pipeline.set_defaults(run=run_pipeline)
    convert = commands.add_parser("convert", help="pack any ONNX model within the engine's operators")
    convert.add_argument("model", type=Path)
    convert.add_argument(
        "--calib", type=Path, required=True, help=".npz: an array an input, examples stacked in front"
    )
    convert.add_argument(
        "--out", type=Path, required=True, help="the packed .onnx; its report stands beside it"
    )
    convert.add_argument("--prune", action="store_true", help="first 2:4 by magnitude, without training")
    convert.add_argument("--gate", type=float, default=42.0, help="least SNR in dB; default 42")
    convert.set_defaults(run=run_convert)


def run_quantise(args: argparse.Namespace) -> int:
    """`stonechat-export quantise`."""
    from .quantise_voice import Options, quantise_voice

    options = Options(args.gate, args.tuned, args.sentences, args.calibrate, args.activations)
    found = quantise_voice(args.pack, args.texts, args.out, args.work, options)
    print(f"{found.mean_db:.1f} dB over {len(found.sound_db)} clauses; report: {args.work / 'report.html'}")
    print(f"packed {args.out}; next: stonechat-export verify {args.out}")
    return 0


def run_pipeline(args: argparse.Namespace) -> int:
    """`stonechat-export pipeline`."""
    from .steps import pipeline

    return pipeline(args, main)


def run_convert(args: argparse.Namespace) -> int:
    """`stonechat-export convert`."""
    import onnx

    from .convert import convert

    work = args.out.parent / f"{args.out.stem}-report"
    made = convert(args.model, args.calib, work, args.prune, args.gate)
    onnx.save(made.model, args.out)
    (sizes,) = made.report["bytes"].values()
    snr = made.report["sound_db"]["mean"]
    print(
        f"{args.out}: {sizes['float32']} -> {sizes['packed']} bytes, {snr} dB; report: {work / 'report.html'}"
    )
    return 0


def run_corpus(args: argparse.Namespace) -> int:
    """`stonechat-export corpus`: its options are its own."""
    from .corpus_maker import main as make_corpus

    return make_corpus(args.rest)


def run_train(args: argparse.Namespace) -> int:
    """`stonechat-export train`."""

    from .adversarial import AdversarialTrainer
    from .network import NetworkConfig
    from .pack import load_weights
    from .plots import draw
    from .train import TrainConfig, Trainer, train

    config = TrainConfig(batch=args.batch, cooldown=args.cooldown, seed=args.seed, device=args.device)
    start = load_weights(args.start)[1:] if args.start else None
    kind = AdversarialTrainer if args.adversarial else Trainer
    train(args.corpus, kind(args.folder, NetworkConfig(), config), args.steps, start, draw)
    return 0


def run_prune(args: argparse.Namespace) -> int:
    """`stonechat-export prune`."""

    from .pack import load_weights
    from .plots import draw
    from .sparse_train import SparseAdversarialTrainer, SparseSchedule, SparseTrainer
    from .train import TrainConfig, train

    network, weights, begin = load_weights(args.start)
    schedule = SparseSchedule(begin, args.steps, args.random, args.fixed, args.outputs)
    config = TrainConfig(
        batch=args.batch,
        rate=args.rate,
        cooldown=schedule.fixed_steps,
        ema=schedule.ema,
        seed=args.seed,
        device=args.device,
    )
    kind = SparseAdversarialTrainer if args.adversarial else SparseTrainer
    trainer = kind(args.folder, network, config, schedule)
    train(args.corpus, trainer, begin + args.steps, (weights, begin), draw)
    return 0


def run_pack(args: argparse.Namespace) -> int:
    """`stonechat-export pack`."""
    from .dataset import SPEAKERS
    from .pack import load_student, save_weights, write_pack

    weights = args.weights or args.folder / "checkpoint.pt"
    card = json.loads(args.card.read_text("utf8")) if args.card else {}
    student, step = load_student(weights)
    write_pack(student, args.out, args.out.name, SPEAKERS, {**card, "steps": step})
    if args.keep_weights:
        save_weights(student, step, args.keep_weights)
    print(f"packed {args.out}; next: stonechat-export verify {args.out}")
    return 0


def run_verify(args: argparse.Namespace) -> int:
    """`stonechat-export verify`: exit status 1 when a check fails."""
    from .verify import verify, verify_against

    checks = verify(args.pack)
    if args.against:
        if not args.texts:
            raise OptionError("--against needs --texts: a corpus folder or a text file to speak")
        checks += verify_against(args.pack, args.against, args.texts, args.sentences)
    print("\n".join(map(str, checks)))
    return 0 if all(c.passed for c in checks) else 1
