"""The commands that show what the text frontend makes of a text: `stonechat normalise` and `stonechat phonemes`."""

from __future__ import annotations

import argparse
import io
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .errors import OptionError
from .text import Explained, Frontend

FORMATS = ("ipa", "pinyin", "ids")
TEXT_EXAMPLES = """examples:
  stonechat normalise "It costs $500."
  stonechat phonemes --format pinyin "重庆的银行"
  stonechat phonemes --explain "He walked 3km."
  stonechat normalise - < letter.txt
"""


def add_text_commands(commands: Any) -> None:
    """`normalise` and `phonemes`, with their options."""
    for name, shown in (
        ("normalise", "print the text as it will be spoken; - reads lines"),
        ("phonemes", "print the phonemes of a text; - reads lines"),
    ):
        command = commands.add_parser(
            name,
            help=shown,
            description=f"{shown}: each line is answered with one line, at once.",
            epilog=TEXT_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("text", help="the text, or - for standard input, a line at a time")
        command.add_argument(
            "--explain", action="store_true", help="a table of which rule made what, and an empty line"
        )
        add_reading_options(command)
        command.set_defaults(run=print_normalised if name == "normalise" else print_phonemes)
    command.add_argument(
        "--format",
        choices=FORMATS,
        default="ipa",
        help="ipa (default): the voice's symbols; pinyin: syllables as spoken, English words as they are; ids",
    )


def add_reading_options(command: argparse.ArgumentParser) -> None:
    """Options of every command that reads text."""
    command.add_argument(
        "--lexicon", type=Path, metavar="FILE", help="your pronunciations: word, tab, pronunciation a line"
    )
    command.add_argument(
        "--ssml", action="store_true", help="the text is SSML (each line of it, where lines are read)"
    )
    command.add_argument(
        "--ssml-lenient",
        dest="ssml",
        action="store_const",
        const="lenient",
        help="the same, but malformed SSML is read as text",
    )
    command.add_argument(
        "--read-symbols",
        action="store_true",
        help="read emoji and markup by name instead of leaving them out",
    )


def print_normalised(args: argparse.Namespace) -> None:
    """`stonechat normalise`."""
    frontend, symbols, ssml = Frontend.load(lexicon=args.lexicon), args.read_symbols, args.ssml
    if args.explain:
        answer_lines(
            args.text, lambda line: _normalise_table(frontend.explain_normalise(line, symbols, ssml))
        )
    else:
        answer_lines(args.text, lambda line: frontend.normalise(line, symbols, ssml))


def print_phonemes(args: argparse.Namespace) -> None:
    """`stonechat phonemes`."""
    frontend, symbols, ssml = Frontend.load(lexicon=args.lexicon), args.read_symbols, args.ssml

    def table(line: str) -> str:
        return _phoneme_table(frontend, frontend.explain_phonemes(line, symbols, ssml), args.format)

    if args.explain:
        answer_lines(args.text, table)
    else:
        answer_lines(
            args.text, lambda line: frontend.phonemes(line, args.format, read_symbols=symbols, ssml=ssml)
        )


def answer_lines(text: str, answer: Callable[[str], str]) -> None:
    """Print the answer to one text, or to each line of standard input as it comes."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    for line in _lines() if text == "-" else (text,):
        print(answer(line), flush=True)


def _lines() -> Iterator[str]:
    if sys.stdin is None:
        raise OptionError("standard input is closed: give the text as an argument")
    for line in sys.stdin:
        yield line.rstrip("\r\n")


def _normalise_table(found: Iterator[Explained]) -> str:
    return table(("source", "spoken", "rule"), [(e.source, e.spoken, e.rule) for e in found])


def _phoneme_table(frontend: Frontend, found: Iterator[Explained], format: str) -> str:
    """A row a word; the source and its rule stand at the first word of what a rule wrote."""
    rows = []
    place = (-1, -1)
    for e in found:
        ids = " ".join(map(str, frontend.symbols.encode(e.phonemes)))
        said = {"ipa": e.phonemes, "pinyin": e.pinyin, "ids": ids}[format]
        is_new, place = place != (e.start, e.end), (e.start, e.end)
        rows.append((e.source if is_new else "", e.spoken, e.rule if is_new else "", said, e.origin))
    return table(("source", "spoken", "rule", format, "from"), rows)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Aligned columns, a line a row and an empty one at the end; nothing but that where there are no rows."""
    if not rows:
        return ""
    lines = [tuple(" ".join(cell.split()) for cell in row) for row in (head, *rows)]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(line, widths, strict=True))
        for line in lines
    )
    return "".join(f"{line.rstrip()}\n" for line in padded)


def width(text: str) -> int:
    """Columns that a text takes on a terminal: Chinese characters take two, marks on letters none."""
    return sum(
        0 if unicodedata.combining(c) or unicodedata.category(c) in ("Cf", "Mn", "Me")
        else 2 if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )  # fmt: skip
