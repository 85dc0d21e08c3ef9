"""Every error stonechat raises on purpose; each message names the remedy."""


class StonechatError(Exception):
    """Base of all errors that a caller may want to show to a person as they are."""


class ModelError(StonechatError):
    """An ONNX file is damaged, foreign, or uses an operator the engine does not run."""


class VoiceError(StonechatError):
    """A voice pack is missing, incomplete, or of a format this version does not read."""


class TextError(StonechatError):
    """Text, lexicon or markup that cannot be read."""


class PoolError(StonechatError):
    """The memory pool is too small, or the system refused the mapping."""


class AudioError(StonechatError):
    """No sound device, or it refused the stream."""


class OptionError(StonechatError, ValueError):
    """A caller's option is out of its range."""
