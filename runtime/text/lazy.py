"""Patterns compiled at first use: a start pays only for the rules that its text needs."""

from __future__ import annotations

import re
from functools import cached_property


class LazyPattern:
    """A regular expression with the methods the rules use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.text)

    def match(self, text: str, at: int = 0, end: int | None = None) -> re.Match[str] | None:
        """A match that begins at `at`, as if the text ended at `end`."""
        return self.compiled.match(text, at, len(text) if end is None else end)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A match of the whole text."""
        return self.compiled.fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match anywhere."""
        return self.compiled.search(text)
