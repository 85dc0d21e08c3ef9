"""Reads SSML into a Document: speak, p, s, break, prosody, say-as, sub, phoneme, emphasis, voice, lang, mark.

Expat reads the XML; document types, and so entities of one's own, are refused; depth and size are bounded. Other
elements are spoken as their content. Speech Synthesis Markup Language 1.1: http://www.w3.org/TR/speech-synthesis11/
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from html import unescape
from xml.parsers import expat

from ..errors import TextError
from .document import Document
from .ssml_build import LINE, SENTENCE, Builder
from .ssml_read import Elements, MarkupError, Readers

MAX_CHARS = 4 * 1024 * 1024
MAX_DEPTH = 64
REMEDY = "close every tag in its order, and write & as &amp; and < as &lt;"
MARKUP = re.compile(
    r"(?P<comment><!--)|<!\[CDATA\[|\]\]>|<!DOCTYPE[^<>\[\]]*\[|<[!?/]?(?P<name>[A-Za-z_][\w:.-]*)[^<>]*>"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{1,31});)",
    re.ASCII,
)
DIVIDING = frozenset(["p", "s", "break", "br", "div", "speak", "voice"])
"""Tags between which words do not touch."""


class SsmlError(TextError):
    """Markup that cannot be read; `line` and `column` count from 1."""

    def __init__(self, message: str, source: str, at: int) -> None:
        self.line = source.count("\n", 0, at) + 1
        self.column = at - source.rfind("\n", 0, at)
        super().__init__(f"SSML, line {self.line}, column {self.column}: {message}")


def read(source: str, readers: Readers, lenient: bool = False) -> Document:
    """The document. SsmlError with line and column where the markup is malformed.

    `lenient` reads malformed markup as text, without its tags, and leaves out values that have no meaning; either
    with a warning.
    """
    try:
        return _parsed(source, readers, lenient)
    except SsmlError as error:
        if not lenient:
            raise
        warnings.warn(f"{error}; read as text", stacklevel=4)
        return as_text(source)


class Places:
    """From the bytes that the parser counts to characters; asked in ascending order, so that all is counted once."""

    def __init__(self, source: str, first: int) -> None:
        self._source, self._byte, self._char = source, 0, first
        try:
            self.data = source[first:].encode("utf-8")
        except UnicodeEncodeError as error:
            where = first + error.start
            raise SsmlError("half a surrogate pair: leave it out", source, where) from None

    def char(self, byte: int) -> int:
        """Index in the source of the character at a byte."""
        if byte > self._byte:
            self._char += len(self.data[self._byte : byte].decode("utf-8", "ignore"))
            self._byte = byte
        return self._char


def _parsed(source: str, readers: Readers, lenient: bool) -> Document:
    first = len(source) - len(source.lstrip("\ufeff \t\r\n"))
    if len(source) > MAX_CHARS:
        raise SsmlError(f"{len(source)} characters: {MAX_CHARS} at most, divide the document", source, 0)
    if not source.startswith("<", first):
        raise SsmlError(
            "SSML begins with <speak>; plain text is spoken without asking for SSML", source, first
        )
    places, parser = Places(source, first), expat.ParserCreate("utf-8")

    def here() -> int:
        return places.char(parser.CurrentByteIndex)

    elements = Elements(source, readers, here, lenient)
    _connect(parser, elements, here, source)
    try:
        parser.Parse(places.data, True)
    except MarkupError as error:
        raise SsmlError(str(error), source, error.at) from None
    except expat.ExpatError as error:
        at = places.char(parser.ErrorByteIndex)
        raise SsmlError(f"{expat.ErrorString(error.code)}; {REMEDY}", source, at) from None
    return elements.document()


def _connect(parser: expat.XMLParserType, elements: Elements, here: Callable[[], int], source: str) -> None:
    """Hand what the parser finds to `elements`, but neither document types nor what is too deep."""
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise MarkupError(f"elements stand more than {MAX_DEPTH} deep: flatten them", here())
        elements.start(name, attributes)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1
        elements.end()

    def refuse(*_: object) -> None:
        at = max(0, source.rfind("<!", 0, here() + 1))
        raise MarkupError("document types and entities are refused: leave <!DOCTYPE …> out", at)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = elements.characters
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse


def as_text(source: str) -> Document:
    """The source without its tags, all of its text kept."""
    build = Builder(source, line="\n")
    at, comments = 0, True
    while match := MARKUP.search(source, at):
        build.text(source[at : match.start()], at)
        at = match.end()
        if match["comment"]:
            closed = source.find("-->", at) if comments else -1
            comments = closed >= 0
            at = closed + 3 if comments else at
        elif match["entity"]:
            build.instead(unescape(match["entity"]), match.start(), at)
        elif match["name"] and match["name"].lower() in DIVIDING:
            build.boundary(LINE if match["name"].lower() in ("break", "br", "voice") else SENTENCE)
    build.text(source[at:], at)
    return build.document()
