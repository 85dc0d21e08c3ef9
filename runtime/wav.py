"""Sound into files: 16-bit mono PCM, in a WAV container or raw, written as it is made."""

import contextlib
import os
import stat
import struct
import sys
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from .errors import AudioError

_BLOCK = 4096  # samples converted at a time, so that a long array needs no copy as long
_UNKNOWN = 0xFFFFFFFF  # what a RIFF size reads where nobody can come back to write it
_MOST = _UNKNOWN - 36  # data bytes a RIFF file can hold


def to_int16(samples: NDArray[np.floating], out: NDArray[np.int16]) -> None:
    """`samples` (n,) in -1..1 rounded to `out` (n,) int16; beyond that clipped, NaN as silence.

    Works in blocks: no temporary is larger than 16 KiB.
    """
    scratch = np.empty(min(_BLOCK, len(samples)), np.float32)
    for start in range(0, len(samples), _BLOCK):
        block = samples[start : start + _BLOCK]
        level = scratch[: len(block)]
        np.clip(block, -1.0, 1.0, out=level, casting="same_kind")
        np.copyto(level, 0.0, where=np.isnan(level))
        np.multiply(level, 32767.0, out=level)
        np.rint(level, out=level)
        np.copyto(out[start : start + _BLOCK], level, casting="unsafe")


class WavWriter:
    """Streams samples into `target` at `rate` Hz: a path, an open binary file, or "-" for standard output.

    A path is written beside itself and renamed by `close`: a failure leaves what was there before, never half
    a file. A pipe or a device is written straight on. "-" is raw s16le without a header. Where the reader of
    a pipe has gone, `write` returns False: stop speaking.

    Errors: AudioError when the target cannot be written; for a path before a sample is made.
    """

    def __init__(self, target: str | os.PathLike[str] | BinaryIO, rate: int) -> None:
        self.rate = rate
        self.frames = 0
        """Samples written."""
        self.broken = False
        """Nobody reads the pipe any more."""
        self._path: Path | None = None  # where the finished file goes
        self._part: Path | None = None  # where it grows
        self._raw = target == "-"
        self._owned = isinstance(target, str | os.PathLike) and not self._raw
        self._block: NDArray[np.int16] = np.empty(_BLOCK, "<i2")
        self._file = self._open(target)
        self._start = self._file.tell() if self._seekable() else 0
        if not self._raw:
            self._put(_header(rate, _UNKNOWN))

    def write(self, samples: NDArray[np.floating]) -> bool:
        """Append `samples` (n,) float32 in -1..1; False once nobody reads them."""
        if not self._raw and self._seekable() and 2 * (self.frames + len(samples)) > _MOST:
            raise AudioError("a WAV file holds 4 GiB at most: start another, or write raw PCM with -o -")
        for start in range(0, len(samples), _BLOCK):
            block = self._block[: min(_BLOCK, len(samples) - start)]
            to_int16(samples[start : start + _BLOCK], block)
            if not self._put(block.view(np.uint8).data):
                return False
            self.frames += len(block)
        return not self.broken

    def close(self) -> None:
        """Write the sizes into the header and put the file in its place."""
        if self._file.closed:
            return
        if not self._raw and not self.broken and self._seekable():
            self._file.seek(self._start)
            self._put(_header(self.rate, 2 * self.frames))
            self._file.seek(0, os.SEEK_END)
        if self._owned:
            self._finish()

    def abort(self) -> None:
        """Give up: a path is left as it was before."""
        if self._owned and not self._file.closed:
            with contextlib.suppress(OSError):
                self._file.close()
        if self._part:
            self._part.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort() if kind else self.close()

    def _open(self, target: str | os.PathLike[str] | BinaryIO) -> BinaryIO:
        if not isinstance(target, str | os.PathLike):
            return target
        if self._raw:
            return _standard_output()
        path = Path(os.path.realpath(target))
        try:
            if path.exists() and not stat.S_ISREG(path.stat().st_mode):
                return open(path, "wb")
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError("the file is write-protected")
            self._path, self._part = path, path.with_name(f".{path.name}.{os.getpid()}.part")
            return open(self._part, "wb")
        except OSError as error:
            raise AudioError(_unwritable(target, error)) from error

    def _put(self, data: bytes | memoryview) -> bool:
        """Write and flush; False where the pipe is broken."""
        if self.broken:
            return False
        try:
            self._file.write(data)
            self._file.flush()
        except BrokenPipeError:
            self._let_go()
        except OSError as error:
            self.abort()
            raise AudioError(_unwritable(self._path or "the output", error)) from error
        return not self.broken

    def _let_go(self) -> None:
        """What is still buffered goes to nowhere, else the interpreter complains of it at exit."""
        self.broken = True
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self._file.fileno())

    def _finish(self) -> None:
        try:
            self._file.close()
            if self._part and self._path:
                os.replace(self._part, self._path)
        except OSError as error:
            self.abort()
            raise AudioError(_unwritable(self._path or "the output", error)) from error

    def _seekable(self) -> bool:
        return self._file.seekable()


def _standard_output() -> BinaryIO:
    if sys.stdout is None:
        raise AudioError("standard output is closed: pipe it, or name a file with -o")
    if sys.stdout.isatty():
        raise AudioError("standard output is a terminal: pipe it, as in … -o - | aplay -f S16_LE -r 24000")
    return sys.stdout.buffer


def _unwritable(target: str | os.PathLike[str], error: OSError) -> str:
    why = error.strerror or error
    return f"cannot write {os.fspath(target)}: {why}; name a file you may write, with room for it"


def _header(rate: int, data_bytes: int) -> bytes:
    """The 44 bytes before the samples: RIFF/WAVE, 'fmt ' (PCM, one channel, 16 bits), 'data'."""
    riff_bytes = min(data_bytes + 36, _UNKNOWN)
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    riff = struct.pack("<4sI4s", b"RIFF", riff_bytes, b"WAVE")
    return riff + fmt + struct.pack("<4sI", b"data", data_bytes)
