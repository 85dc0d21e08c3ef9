"""Stonechat: offline Chinese and English text-to-speech on numpy alone.

>>> import stonechat
>>> voice = stonechat.load("default")
>>> wav, rate = voice.inference("你好。Hello.")
>>> rate, wav.dtype.name, wav.ndim
(24000, 'float32', 1)
>>> voice.close()
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import (
        AudioError,
        ModelError,
        OptionError,
        PoolError,
        StonechatError,
        TextError,
        VoiceError,
    )
    from .facts import voice_folders as voices
    from .session import Session
    from .slot import SpokenMark, SpokenWord
    from .utterance import Chunk, Utterance
    from .voice import Voice, load

__version__ = "0.1.0"

__all__ = [
    "AudioError",
    "Chunk",
    "ModelError",
    "OptionError",
    "PoolError",
    "Session",
    "SpokenMark",
    "SpokenWord",
    "StonechatError",
    "TextError",
    "Utterance",
    "Voice",
    "VoiceError",
    "load",
    "voices",
]

_HOMES = {
    "voices": ("facts", "voice_folders"),
    "Session": ("session", "Session"),
    "SpokenMark": ("slot", "SpokenMark"),
    "SpokenWord": ("slot", "SpokenWord"),
}
_HOMES |= {name: ("utterance", name) for name in ("Chunk", "Utterance")}
_HOMES |= {name: ("voice", name) for name in ("Voice", "load")}


def __getattr__(name: str) -> Any:
    """Public names are imported at first use: `stonechat.platforms` can set the machine up before numpy loads."""
    if name not in __all__:
        raise AttributeError(f"module 'stonechat' has no attribute {name!r}")
    module, attribute = _HOMES.get(name, ("errors", name))
    return getattr(importlib.import_module(f".{module}", __name__), attribute)
