"""What each SSML element means: elements and text in order, to a Builder."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..errors import TextError
from . import ssml_tags as tags
from .document import OBJECT, Document
from .given import Given
from .manner import PLAIN, Manner, Speakers
from .ssml_build import PARAGRAPH, SENTENCE, Builder
from .ssml_say import KINDS, Said, Wanted, said

NAMESPACE = "http://www.w3.org/2001/10/synthesis"
MAX_SYMBOLS = 100
"""Symbols of one `phoneme` element: a clause must hold it."""
TAG_END = re.compile(r"""(?:[^>"']|"[^"]*"|'[^']*')*>""")
SILENT = frozenset(["metadata", "meta", "lexicon", "desc"])
"""Elements whose content is not spoken."""
PASSED = frozenset(["speak", "lang", "token", "w"])
"""Elements that say nothing beyond their language."""
LEFT_OUT = ("contour", "range", "duration")
"""Attributes of `prosody` that are not followed."""
Attributes = dict[str, str]


class MarkupError(Exception):
    """What is wrong with the element at source[at]."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Readers:
    """What is asked of the frontend and of the voice."""

    symbols: Callable[[str, str], str]
    """(alphabet, pronunciation) to the voice's symbols; TextError for what has none."""
    plainly: Callable[[str], Said]
    """Text as it is read without being asked, in English and in Chinese."""
    voice: Speakers


@dataclass
class Open:
    """An element that has begun."""

    name: str
    manner: Manner = PLAIN
    lang: str = ""
    attributes: Attributes = field(default_factory=dict)
    silent: bool = False
    held: list[tuple[str, int]] | None = None
    """Text of an element that is said in another way, with its places in the source."""
    at: int = 0


class Elements:
    """Takes what the parser finds; `here` is where it is in the source."""

    def __init__(self, source: str, readers: Readers, here: Callable[[], int], lenient: bool) -> None:
        self._source, self._readers, self._here, self._lenient = source, readers, here, lenient
        self._build = Builder(source)
        self._open = [Open("")]
        self._prefixes = {""}
        self._lang = ""
        self._notes: dict[str, None] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        """An element begins."""
        at, around = self._here(), self._open[-1]
        is_root = len(self._open) == 1
        if is_root:
            self._prefixes |= {k[6:] for k, v in attributes.items() if k[:6] == "xmlns:" and v == NAMESPACE}
        prefix, _, local = name.rpartition(":")
        local = local if prefix in self._prefixes else name
        if is_root and local != "speak":
            raise MarkupError(f"the outermost element is <{name}>: put the whole in <speak>…</speak>", at)
        opened = Open(local, around.manner, around.lang, attributes, around.silent, around.held, at)
        self._open.append(opened)
        self._language(opened, is_root)
        if local in SILENT:
            opened.silent = True
        elif not opened.silent:
            STARTS.get(local, Elements._unknown)(self, opened)
        self._build.now(opened.manner, opened.lang)

    def end(self) -> None:
        """The innermost element ends."""
        opened, around = self._open.pop(), self._open[-1]
        if opened.held is not None and around.held is None:
            self._replace(opened, opened.held)
        if opened.name in ("s", "p") and not opened.silent:
            self._build.boundary(BOUNDARIES[opened.name])
        if opened.manner.speaker != around.manner.speaker:
            self._build.cut(None, self._here(), self._here())
        self._build.now(around.manner, around.lang)

    def characters(self, data: str) -> None:
        """Text, whole or in part."""
        inside, at = self._open[-1], self._here()
        if inside.silent:
            return
        if inside.held is not None:
            inside.held.append((data, at))
        elif self._source[at] == "&" and data.strip():
            self._build.instead(data, at, self._source.index(";", at) + 1)
        else:
            self._build.text(data, at)

    def document(self) -> Document:
        """The document, at its end; one warning names what was not followed."""
        if self._notes:
            warnings.warn(f"SSML: {'; '.join(self._notes)}", stacklevel=6)
        return self._build.document(self._lang)

    def _note(self, text: str) -> None:
        if len(self._notes) < 5:
            self._notes[text] = None

    def _fault(self, message: str, opened: Open) -> None:
        """Something that has no meaning: an error, or left out."""
        if not self._lenient:
            raise MarkupError(message, opened.at)
        self._note(f"{message}; left out")

    def _language(self, opened: Open, is_root: bool) -> None:
        wish = opened.attributes.get("xml:lang", "").strip()
        lang = tags.language(wish) if wish else ""
        if lang is None:
            self._note(f"no language {wish!r}, only zh and en: read by its letters")
        elif is_root:
            self._lang = lang
        elif lang:
            opened.lang = lang

    def _unknown(self, opened: Open) -> None:
        self._note(f"<{opened.name}> is not known, its content is spoken")

    def _nothing(self, opened: Open) -> None:
        pass

    def _boundary(self, opened: Open) -> None:
        self._build.boundary(BOUNDARIES[opened.name])

    def _audio(self, opened: Open) -> None:
        self._note("<audio> is not played, its content is spoken")

    def _break(self, opened: Open) -> None:
        time, strength = (opened.attributes.get(name, "").strip() for name in ("time", "strength"))
        gap_s = tags.seconds(time) if time else tags.STRENGTHS.get(strength or "medium")
        if gap_s is None:
            self._fault(
                f'<break {"time" if time else "strength"}="{time or strength}"> is none: use {tags.BREAK_HELP}',
                opened,
            )
        elif gap_s:
            end = TAG_END.match(self._source, opened.at)
            self._build.cut(gap_s, opened.at, end.end() if end else opened.at)

    def _prosody(self, opened: Open) -> None:
        attributes, voice_hz = opened.attributes, self._readers.voice.middle_hz
        for name, change, help_text in (
            ("rate", tags.rate, tags.RATE_HELP),
            ("pitch", lambda text, now: tags.pitch(text, now, voice_hz), tags.PITCH_HELP),
            ("volume", tags.volume, tags.VOLUME_HELP),
        ):
            if value := attributes.get(name, "").strip():
                self._change(opened, name, change(value, opened.manner), help_text)
        for name in LEFT_OUT:
            if name in attributes:
                self._note(f"<prosody {name}> is not followed")

    def _emphasis(self, opened: Open) -> None:
        level = opened.attributes.get("level", "").strip() or "moderate"
        self._change(opened, "level", tags.emphasis(level, opened.manner), tags.EMPHASIS_HELP)

    def _change(self, opened: Open, name: str, manner: Manner | None, help_text: str) -> None:
        if manner is None:
            self._fault(
                f'<{opened.name} {name}="{opened.attributes[name]}"> is none: use {help_text}', opened
            )
        else:
            opened.manner = manner

    def _voice(self, opened: Open) -> None:
        names = re.split(r"[\s,]+", opened.attributes.get("name", "").strip())
        known = self._readers.voice.names
        found = next((name for name in names if name and (known is None or name in known)), "")
        if not found and names[0] and known is not None:
            self._note(f"no voice {' '.join(names)!r}; there are: {', '.join(known)}")
        lang = opened.lang if "xml:lang" in opened.attributes else ""
        found = found or self._readers.voice.defaults.get(lang, "")
        if found and found != opened.manner.speaker:
            opened.manner = replace(opened.manner, speaker=found)
            self._build.cut(None, opened.at, opened.at)

    def _mark(self, opened: Open) -> None:
        if name := opened.attributes.get("name", "").strip():
            self._build.mark(name)
        else:
            self._fault('<mark> has no name: write <mark name="…"/>', opened)

    def _hold(self, opened: Open) -> None:
        wanted = {"sub": "alias", "phoneme": "ph", "say-as": "interpret-as"}[opened.name]
        if not opened.attributes.get(wanted, "").strip():
            self._fault(f'<{opened.name}> has no {wanted}: write <{opened.name} {wanted}="…">', opened)
        elif opened.held is None:
            opened.held = []

    def _replace(self, opened: Open, held: list[tuple[str, int]]) -> None:
        """An element that is said in another way than its text has ended."""
        content = " ".join("".join(text for text, _ in held).replace(OBJECT, " ").split())
        start, end = (held[0][1], self._here()) if held else (opened.at, self._here())
        given = None
        if opened.name == "sub":
            self._build.instead(opened.attributes["alias"], start, end)
            return
        if opened.name == "phoneme":
            given = self._phoneme(opened, content)
        elif content:
            given = self._say_as(opened, content)
        if given:
            self._build.say(given, start, end)
        else:
            for text, at in held:
                self._build.text(text, at)

    def _phoneme(self, opened: Open, content: str) -> Given | None:
        attributes = opened.attributes
        try:
            symbols = self._readers.symbols(attributes.get("alphabet", "").strip() or "ipa", attributes["ph"])
        except TextError as error:
            self._fault(f"<phoneme>: {error}", opened)
            return None
        if len(symbols) > MAX_SYMBOLS:
            self._fault(f"<phoneme> has {len(symbols)} symbols: {MAX_SYMBOLS} at most, divide it", opened)
            return None
        return Given(content or attributes["ph"], symbols, "phoneme")

    def _say_as(self, opened: Open, content: str) -> Given | None:
        attributes = opened.attributes
        kind = attributes["interpret-as"].strip().lower()
        wanted = Wanted(content, attributes.get("format", "").strip())
        words = said(kind, wanted, self._readers.plainly)
        if words is None:
            self._note(f"say-as {kind!r} is not known, only {', '.join(KINDS)}")
        return Given(content, "", f"say-as {kind}", words) if words and any(words) else None


BOUNDARIES = {"s": SENTENCE, "p": PARAGRAPH}
STARTS: dict[str, Callable[[Elements, Open], None]] = {
    **dict.fromkeys(PASSED, Elements._nothing),
    **dict.fromkeys(BOUNDARIES, Elements._boundary),
    **dict.fromkeys(("sub", "phoneme", "say-as"), Elements._hold),
    "break": Elements._break,
    "prosody": Elements._prosody,
    "emphasis": Elements._emphasis,
    "voice": Elements._voice,
    "mark": Elements._mark,
    "audio": Elements._audio,
}
