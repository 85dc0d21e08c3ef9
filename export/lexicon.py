"""Compiles the lexicons of stonechat.text into runtime/data/lexicon (build time only).

    python -m stonechat.export.lexicon [zh] [en] [-o FOLDER]

Needs jieba, pypinyin and misaki's data files (PyPI); see the sources named in NOTICE.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from stonechat.export.lexicon_file import write

HOME = Path(__file__).parent.parent / "runtime" / "data" / "lexicon"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lang", nargs="*", default=["zh", "en"], help="zh, en (both by default)")
    parser.add_argument("-o", "--output", type=Path, default=HOME)
    parser.add_argument(
        "--keep-model", action="store_true", help="en: only the words, with the present models"
    )
    options = parser.parse_args()
    if "zh" in options.lang:
        from stonechat.export.lexicon_zh import compile_zh

        write(options.output / "zh.lex", compile_zh())
    if "en" in options.lang:
        from stonechat.export.lexicon_en import compile_en

        write(options.output / "en.lex", compile_en(HOME / "en.lex" if options.keep_model else None))


if __name__ == "__main__":
    main()
