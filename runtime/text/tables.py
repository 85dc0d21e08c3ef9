"""Reads the tab-separated tables beside this file: comments ("# …") and blank lines skipped."""

from __future__ import annotations

from pathlib import Path

from ..errors import TextError

FOLDER = Path(__file__).parent


def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Rows of the table, each a tuple of its columns."""
    try:
        lines = (FOLDER / name).read_text("utf-8").splitlines()
    except OSError as error:
        raise TextError(f"cannot read the text table {name}: {error}; reinstall stonechat") from error
    return tuple(tuple(line.split("\t")) for line in lines if line and not line.startswith("# "))
