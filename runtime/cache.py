"""Where compiled graphs are kept between starts, so that the second start need not read, fold and plan again.

A file a graph, in `$CACHE_DIRECTORY` (systemd's), `$XDG_CACHE_HOME/stonechat` or `~/.cache/stonechat`. Its key names
the graph's content, this stonechat, Python, numpy and the processor: anything else is stale, and is made anew. Files
are replaced in one step, so that whoever reads at the same time sees the old one or the new one, whole.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import platform
import sys
import warnings
from functools import cache
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np
from stonechat.platforms import current

from . import __version__
from .engine import load_graph
from .engine.compiled import Compiled, compile_graph
from .engine.compiled_file import Key, from_bytes, to_bytes
from .errors import ModelError

SAMPLES = 64
SAMPLE_BYTES = 4096


def compiled(
    graph: Path, longest: dict[str, int], keep: bool | None = None, weights: str = "float32"
) -> Compiled:
    """The graph file compiled for the longest sizes: as kept, or made now.

    `keep`: True leaves it for the next start, False looks at no kept file, None uses one that is there and makes it
    anew where it is damaged or stale. A folder that cannot be written is one warning, never an error.
    """
    path = kept_file(graph, weights) if keep is not False else None
    if path is None:
        return compile_graph(load_graph(graph), longest, weights)
    key = make_key(graph, longest, weights)
    there = path.is_file()
    if there:
        with contextlib.suppress(ModelError, ValueError, KeyError, TypeError, OSError):
            return _read(path, key)
    made = compile_graph(load_graph(graph), longest, weights)
    if keep or there:
        _write(path, made, key)
    return made


def folder() -> Path | None:
    """Where compiled graphs are kept; None where this user has no place for such."""
    if given := os.environ.get("CACHE_DIRECTORY"):  # systemd gives several as a list
        return Path(given.split(":")[0])
    if (given := os.environ.get("XDG_CACHE_HOME")) and os.path.isabs(given):
        return Path(given) / "stonechat"
    try:
        return Path.home() / ".cache" / "stonechat"
    except RuntimeError:
        return None


def kept_file(graph: Path, weights: str = "float32") -> Path | None:
    """The file of one graph of one voice. A home shared by several machines or versions has one for each."""
    place = folder()
    if place is None:
        return None
    whose = "\0".join((str(graph.resolve()), weights, *_machine().values(), _code()))
    return place / f"{graph.parent.name}-{graph.stem}-{crc32(whose.encode()):08x}.compiled"


def make_key(graph: Path, longest: dict[str, int], weights: str = "float32") -> Key:
    """What a kept file depends on."""
    return {
        "graph": _content(graph),
        "longest": longest,
        "weights": weights,
        "machine": _machine(),
        "code": _code(),
    }


@cache
def _machine() -> dict[str, str]:
    """Folding and planning may differ in their last bits between these."""
    return {
        "stonechat": __version__,
        "python": f"{sys.implementation.name} {platform.python_version()}",
        "numpy": np.__version__,
        "cpu": f"{platform.machine()} {current().board().cpu} {os.environ.get('OPENBLAS_CORETYPE', '')}",
    }


@cache
def _code() -> str:
    """Changes with the engine's own files, as a developer edits them."""
    digest = blake2b(digest_size=8)
    for file in sorted((Path(__file__).parent / "engine").rglob("*.py")):
        facts = file.stat()
        digest.update(f"{file.name} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _content(graph: Path) -> str:
    """A digest of the file's size, time and 64 pieces spread over it: another training changes every one."""
    with graph.open("rb") as file:
        facts = os.fstat(file.fileno())
        digest = blake2b(f"{facts.st_size} {facts.st_mtime_ns}".encode(), digest_size=16)
        for i in range(SAMPLES):
            digest.update(os.pread(file.fileno(), SAMPLE_BYTES, i * facts.st_size // SAMPLES))
    return digest.hexdigest()


def _read(path: Path, key: Key) -> Compiled:
    with path.open("rb") as file:
        return from_bytes(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), key)


def _write(path: Path, made: Compiled, key: Key) -> None:
    part = ""
    try:
        import tempfile  # only here, for it costs a start some milliseconds

        path.parent.mkdir(parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        with os.fdopen(number, "wb") as file:
            file.writelines(to_bytes(made, key))
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        warnings.warn(
            f"cannot keep compiled graphs in {path.parent} ({error.strerror}), so every start takes the longer way:"
            " make it writable, or set XDG_CACHE_HOME to a folder that is",
            stacklevel=2,
        )
