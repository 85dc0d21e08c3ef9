"""The `stonechat-export` command: from a corpus to a voice pack."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from stonechat.errors import StonechatError

EXAMPLES = """the whole way, from a corpus (see shared/corpus/README.md for its format) to a voice:
  stonechat-export train  --corpus corpus/ --run runs/mine
  stonechat-export pack   --run runs/mine --out voices/mine
  stonechat-export verify voices/mine
  stonechat say --model voices/mine "你好。"
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
    train.add_argument("--corpus", type=Path, required=True)
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
    pack = commands.add_parser("pack", help="write a voice pack from a run")
    pack.add_argument("--run", dest="folder", type=Path, help="run folder")
    pack.add_argument("--weights", type=Path, help="instead of --run: a weights file")
    pack.add_argument(
        "--out", type=Path, required=True, help="folder of the voice pack; its name names the voice"
    )
    pack.add_argument("--card", type=Path, help="JSON with licence, data and figures, for voice.json")
    pack.add_argument("--keep-weights", type=Path, help="also write the weights as float16, to train on from")
    pack.set_defaults(run=run_pack)
    verify = commands.add_parser(
        "verify", help="check a voice pack: three engines agree, stream equals batch, sizes"
    )
    verify.add_argument("pack", type=Path)
    verify.set_defaults(run=run_verify)
    corpus = commands.add_parser("corpus", help="make a corpus: the teacher speaks sentences", add_help=False)
    corpus.set_defaults(run=run_corpus)
    return top


def run_corpus(args: argparse.Namespace) -> int:
    """`stonechat-export corpus`: its options are its own."""
    from .corpus_maker import main as make_corpus

    return make_corpus(args.rest)


def run_train(args: argparse.Namespace) -> int:
    """`stonechat-export train`."""
    import torch

    from .adversarial import AdversarialTrainer
    from .network import NetworkConfig
    from .pack import load_weights
    from .plots import draw
    from .train import TrainConfig, Trainer, train

    torch.set_flush_denormal(True)
    config = TrainConfig(batch=args.batch, cooldown=args.cooldown, seed=args.seed, device=args.device)
    start = load_weights(args.start)[1:] if args.start else None
    kind = AdversarialTrainer if args.adversarial else Trainer
    train(args.corpus, kind(args.folder, NetworkConfig(), config), args.steps, start, draw)
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
    from .verify import verify

    checks = verify(args.pack)
    print("\n".join(map(str, checks)))
    return 0 if all(c.passed for c in checks) else 1
