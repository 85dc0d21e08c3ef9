"""Stonechat: offline Chinese and English text-to-speech on numpy alone.

>>> import stonechat
>>> voice = stonechat.load("default")
>>> wav, rate = voice.inference("你好。Hello.")
>>> rate, wav.dtype.name, wav.ndim
(24000, 'float32', 1)
>>> voice.close()
"""

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
from .slot import SpokenWord
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
    "SpokenWord",
    "StonechatError",
    "TextError",
    "Utterance",
    "Voice",
    "VoiceError",
    "load",
    "voices",
]
