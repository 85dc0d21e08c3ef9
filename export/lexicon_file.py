"""Writes the lexicon files that stonechat.text.lexicon maps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
from stonechat.text.lexicon import ENTRY, HEADER, MAGIC, VERSION

Sections = dict[str, bytes]


def table(name: str, entries: Mapping[bytes, bytes], per_bucket: float = 4.0) -> Sections:
    """The two sections of a hash table: NAME.at and NAME. Keys and values are at most 255 bytes."""
    buckets: list[list[bytes]] = [[] for _ in range(max(1, int(len(entries) / per_bucket)))]
    for key, value in sorted(entries.items()):
        buckets[crc32(key) % len(buckets)].append(bytes([len(key), len(value)]) + key + value)
    blobs = [b"".join(bucket) for bucket in buckets]
    starts = np.cumsum([0] + [len(blob) for blob in blobs])
    return {name + ".at": starts.astype("<u4").tobytes(), name: b"".join(blobs)}


def write(path: Path, sections: Sections) -> None:
    """One lexicon file from its sections."""
    offset = HEADER.size + ENTRY.size * len(sections)
    directory, body = b"", b""
    for name, data in sections.items():
        body += b"\0" * (-(offset + len(body)) % 4)
        directory += ENTRY.pack(name.encode("ascii"), offset + len(body), len(data))
        body += data
    header = HEADER.pack(MAGIC, VERSION, offset + len(body), len(sections), crc32(directory))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + directory + body)
