"""The `stonechat` command."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# One BLAS thread, said before numpy loads: more would cost memory and win nothing on three rows.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from . import __version__  # noqa: E402
from .cli_device import add_device_commands  # noqa: E402
from .cli_text import add_reading_options, add_text_commands  # noqa: E402
from .errors import OptionError, StonechatError, TextError  # noqa: E402
from .facts import find_voice, read_facts, voice_folders  # noqa: E402
from .utterance import Chunk  # noqa: E402
from .voice import ENGINES, WEIGHTS, load  # noqa: E402
from .wav import WavWriter  # noqa: E402

EXAMPLES = """examples:
  stonechat say "前方三百米右转，进入中山路。In three hundred meters, turn right."
  stonechat say -o hello.wav "Hello, world."
  echo "Recalculating." | stonechat say -o - - | aplay -f S16_LE -r 24000
  stonechat say --voice heart --speed 1.2 --file letter.txt
"""
WISHES = ("speed", "volume", "seed", "voice", "chunk_ms", "read_symbols", "ssml")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0, 2 for a wrong call or an error told, 130 when interrupted."""
    warnings.showwarning = lambda message, *_: tell(message)
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that half-written files are taken away
    args = parser().parse_args(argv)
    try:
        run: Callable[[argparse.Namespace], None] = args.run
        run(args)
        if sys.stdout:
            sys.stdout.flush()
    except StonechatError as error:
        tell(error)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read standard output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered has no place
        tell(f"cannot write standard output: {error.strerror}")
        return 2
    return 0


def tell(message: object) -> None:
    """A line to the person at the terminal."""
    print(f"stonechat: {message}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """Every command and option, with its help."""
    top = argparse.ArgumentParser(
        "stonechat",
        description="Offline Chinese and English text-to-speech.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"stonechat {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_say(commands)
    voices = commands.add_parser("voices", help="list the voices and their speakers")
    voices.set_defaults(run=list_voices)
    add_text_commands(commands)
    add_device_commands(commands)
    return top


def _add_say(commands: Any) -> None:
    say = commands.add_parser(
        "say",
        help="speak a text: play it, or write it to a file or a pipe",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    say.add_argument("text", nargs="*", help="what to say; - or nothing reads standard input")
    say.add_argument("--file", type=Path, help="read the text from a UTF-8 file")
    say.add_argument(
        "-o", "--output", metavar="FILE", help="write a WAV file; - writes raw s16le PCM as it is made"
    )
    say.add_argument(
        "--play", action="store_true", help="with -o: play it too, where there is a sound device"
    )
    say.add_argument("--device", help="output device, by name or number")
    say.add_argument("--model", default="default", metavar="VOICE", help="voice pack: a name or a folder")
    say.add_argument("--voice", help="speaker; by default xiaobei where there is any Chinese, else heart")
    say.add_argument("--speed", type=float, default=1.0, help="0.8 to 1.3; default 1")
    say.add_argument("--volume", type=float, default=1.0, help="0 to 2; default 1")
    say.add_argument("--seed", type=int, default=0, help="fixes the noise: same text, same sound; default 0")
    say.add_argument("--engine", choices=ENGINES, default="numpy", help="default: numpy")
    say.add_argument(
        "--weights", choices=WEIGHTS, default="float32", help="int8: less memory, more work; default: float32"
    )
    say.add_argument(
        "--chunk-ms", type=int, default=40, help="milliseconds a chunk, a multiple of 40; default 40"
    )
    say.add_argument(
        "--warmup", action="store_true", help="speak a silent sentence first, and make the next start faster"
    )
    add_reading_options(say)
    say.set_defaults(run=say_text)


def say_text(args: argparse.Namespace) -> None:
    """`stonechat say`: the sinks are opened before the voice is loaded, so that their errors come at once."""
    text = read_text(args)
    if args.output == "":
        raise OptionError("-o names no file: give one, or leave -o away to play")
    with contextlib.ExitStack() as stack:
        sinks = _open_sinks(args, read_facts(find_voice(args.model)).rate_hz, stack)
        voice = stack.enter_context(
            load(
                args.model,
                engine=args.engine,
                weights=args.weights,
                sessions=1,
                lexicon=args.lexicon,
                warm=args.warmup,
                keep=args.warmup or None,
            )
        )
        wishes = {k: getattr(args, k) for k in WISHES}
        spoken = 0
        for chunk in voice.inference(text, stream=True, **wishes):
            spoken += len(chunk.samples)
            heard = [sink(chunk) for sink in sinks]
            if not all(heard):
                break
        if not spoken:
            tell("there was nothing to speak in this text")


def _open_sinks(
    args: argparse.Namespace, rate: int, stack: contextlib.ExitStack
) -> list[Callable[[Chunk], bool]]:
    sinks: list[Callable[[Chunk], bool]] = []
    if args.output:
        writer = stack.enter_context(WavWriter(args.output, rate))
        sinks.append(lambda chunk: writer.write(chunk.samples))
    if not args.output or args.play:
        with contextlib.ExitStack() as optional:
            if args.output:  # a file is written already: a machine without sound is no error
                optional.enter_context(contextlib.suppress(StonechatError))
            sinks.append(_open_player(args.device, rate, stack))
    return sinks


def _open_player(device: str | None, rate: int, stack: contextlib.ExitStack) -> Callable[[Chunk], bool]:
    from stonechat.platforms import current

    from .player import Player

    defaults = current().audio()
    wanted = int(device) if device and device.isdigit() else device or defaults.device
    player = stack.enter_context(
        Player(rate, wanted, lead_in_s=defaults.lead_in_s, environment=defaults.environment)
    )
    stack.callback(lambda: tell(trouble) if (trouble := player.stats.trouble()) else None)
    stack.callback(player.drain)

    def play(chunk: Chunk) -> bool:
        player.write(chunk.samples)
        return True

    return play


def read_text(args: argparse.Namespace) -> str:
    """The text of a call: arguments, a file, or standard input."""
    if args.file and args.text:
        raise OptionError("give the text or --file, not both")
    try:
        if args.file:
            return decode(args.file.read_bytes(), str(args.file))
    except OSError as error:
        raise TextError(f"cannot read {args.file}: {error.strerror}") from error
    if args.text and args.text != ["-"]:
        return " ".join(args.text)
    if sys.stdin is None:
        raise OptionError("standard input is closed: give the text as an argument or with --file")
    if sys.stdin.isatty():
        tell("type the text, then Ctrl-D")
    return decode(sys.stdin.buffer.read(), "standard input")


def decode(data: bytes, source: str) -> str:
    """Text of a file: UTF-8, or UTF-16 where it says so. TextError for anything else, rather than speaking noise."""
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextError(
            f"{source} is not UTF-8 ({error.reason} at byte {error.start}): iconv -t UTF-8 it"
        ) from error


def list_voices(args: argparse.Namespace) -> None:
    """`stonechat voices`."""
    for name, folder in voice_folders().items():
        facts = read_facts(folder)
        speakers = ", ".join(facts.speakers)
        print(f"{name}\t{speakers}\t{facts.card.get('languages', '')}\t{facts.card.get('licence', '')}")


if __name__ == "__main__":
    raise SystemExit(main())
