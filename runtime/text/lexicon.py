"""Compiled lexicons: read-only tables in a memory-mapped file, looked up where they lie.

File (little-endian): magic, version u32, length u32, sections u32, directory crc32 u32; then per section a
name of 16 bytes, offset u32, length u32; then the sections, each at a multiple of 4 (export/lexicon_file.py).
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from zlib import crc32

from ..errors import TextError

MAGIC = b"SCLEXICN"
VERSION = 1
HEADER = struct.Struct("<8sIIII")
ENTRY = struct.Struct("<16sII")


class LexiconFile:
    """A mapped lexicon file; raises TextError when it is missing, foreign, newer or truncated."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise TextError(f"cannot read the lexicon {path}: {error}; reinstall stonechat") from error
        self._sections = self._directory()

    def _directory(self) -> dict[str, tuple[int, int]]:
        data = self._map
        if len(data) < HEADER.size:
            raise TextError(f"{self.path} is too short for a lexicon; reinstall stonechat")
        magic, version, length, count, crc = HEADER.unpack_from(data, 0)
        if magic != MAGIC:
            raise TextError(f"{self.path} is not a stonechat lexicon")
        if version != VERSION:
            raise TextError(
                f"{self.path} has lexicon format {version}; this version reads {VERSION}: rebuild it"
            )
        end = HEADER.size + count * ENTRY.size
        if length != len(data) or end > length or crc32(data[HEADER.size : end]) != crc:
            raise TextError(f"{self.path} is damaged (truncated or overwritten); reinstall stonechat")
        sections = {}
        for i in range(count):
            name, offset, size = ENTRY.unpack_from(data, HEADER.size + i * ENTRY.size)
            sections[name.rstrip(b"\0").decode("ascii")] = (offset, size)
        return sections

    def touch(self) -> None:
        """Read a byte of every page, so that no look-up waits for the disk."""
        memoryview(self._map)[:: mmap.PAGESIZE].tobytes()

    def bytes(self, name: str) -> memoryview:
        """The section as bytes, not copied."""
        if name not in self._sections:
            raise TextError(f"{self.path} has no section {name!r}: rebuild it with export/lexicon.py")
        offset, size = self._sections[name]
        return memoryview(self._map)[offset : offset + size]

    def array(self, name: str, code: str) -> memoryview:
        """The section as an array of the struct code ("B", "H", "I"), not copied."""
        return self.bytes(name).cast(code)  # type: ignore[call-overload]

    def table(self, name: str) -> Table:
        """The hash table kept in sections NAME.at (u32 per bucket and one more) and NAME (its entries)."""
        offset, _ = self._sections.get(name, (0, 0))
        return Table(self._map, offset, self.array(name + ".at", "I"))


class Table:
    """Bytes to bytes. A bucket is a run of entries: key length u8, value length u8, key, value."""

    def __init__(self, data: mmap.mmap, offset: int, starts: memoryview) -> None:
        self._data = data
        self._offset = offset
        self._starts = starts
        self._buckets = len(starts) - 1

    def get(self, key: bytes) -> bytes | None:
        """Value of `key`, or None."""
        data = self._data
        bucket = crc32(key) % self._buckets
        at = self._offset + self._starts[bucket]
        end = self._offset + self._starts[bucket + 1]
        size = len(key)
        while at < end:
            key_size = data[at]
            value = at + 2 + key_size
            if key_size == size and data[at + 2 : value] == key:
                return data[value : value + data[at + 1]]
            at = value + data[at + 1]
        return None

    def __contains__(self, key: bytes) -> bool:
        return self.get(key) is not None
