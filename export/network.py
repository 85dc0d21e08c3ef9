"""The student network: encoder, pitch, acoustic decoder and vocoder, written so that batch and stream are one graph.

Every frame-level module takes its streaming state as an argument and returns the next one; training passes zeros.
Activations are laid out (B, T, C): batch, time, channels. Frames are 320 samples (13.33 ms) at 24 kHz; one chunk is
three frames. The first convolution of `Pitch` and of `Acoustic` is centred, so their outputs lag their inputs by
`LOOKAHEAD` frames: output row j speaks of frame j - LOOKAHEAD. Everything after it is causal.

Blocks after ConvNeXt (Liu et al., 2022) with ReLU in place of GELU, since numpy has no erf; chunked attention after
the streaming transformers of speech recognition (Chen et al., 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CHUNK = 3
"""Frames in a chunk (40 ms)."""
LEFT_CHUNKS = 8
"""Chunks of left context that attention sees."""
LOOKAHEAD = 6
"""Frames that a centred first convolution looks ahead (two chunks)."""
BINS = 641
"""Frequency bins of a 1280-sample window."""


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of the student; a voice pack carries them as metadata."""

    symbols: int = 178
    speakers: int = 2
    style: int = 64
    encoder: int = 192
    encoder_hidden: int = 384
    pitch: int = 128
    pitch_hidden: int = 384
    acoustic: int = 224
    acoustic_hidden: int = 672
    attention_hidden: int = 448
    heads: int = 4
    vocoder_blocks: int = 5
    taps: int = 13


def depthwise(buffer: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Convolve each channel over time: (B, T + K - 1, C) with weight (C, 1, K) -> (B, T, C)."""
    return F.conv1d(buffer.transpose(1, 2), weight, bias, groups=weight.shape[0]).transpose(1, 2)


def norm(x: Tensor, width: int) -> Tensor:
    """Layer normalisation without gain and bias: the linear layer behind it carries both."""
    return F.layer_norm(x, (width,), eps=1e-5)


class Mlp(nn.Module):
    """Linear, ReLU, linear; the second starts near zero so that a new block is nearly the identity."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        nn.init.normal_(self.down.weight, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.relu(self.up(x)))


class ConvBlock(nn.Module):
    """Depthwise convolution over time, norm, MLP, residual. `ahead` frames of its taps lie in the future."""

    def __init__(self, width: int, hidden: int, taps: int, ahead: int = 0) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, taps, groups=width)
        self.mlp = Mlp(width, hidden)
        self.taps, self.ahead = taps, ahead

    def state(self, batch: int) -> Tensor:
        return torch.zeros(batch, self.taps - 1, self.conv.out_channels)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, C), (B, K - 1, C) -> (B, T, C) lagging by `ahead` frames, next state."""
        buffer = torch.cat((state, x), 1)
        y = self.mlp(norm(depthwise(buffer, self.conv.weight, self.conv.bias), self.conv.out_channels))
        residual = buffer[:, self.ahead : -self.ahead] if self.ahead else x
        return residual + y, buffer[:, 1 - self.taps :]


class PhonemeConv(nn.Module):
    """The same block over a whole clause of phonemes, centred; padded phonemes are held at zero."""

    def __init__(self, width: int, hidden: int, taps: int = 5) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, taps, padding=taps // 2, groups=width)
        self.mlp = Mlp(width, hidden)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = x if mask is None else x * mask[..., None]
        y = self.conv(x.transpose(1, 2)).transpose(1, 2)
        return x + self.mlp(norm(y, self.conv.out_channels))


class PhonemeAttention(nn.Module):
    """Self-attention over a whole clause of phonemes."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        nn.init.normal_(self.out.weight, std=0.02)
        self.heads, self.width = heads, width

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        (batch, length, _), width = x.shape, self.width
        head = width // self.heads
        q, k, v = self.qkv(norm(x, width)).split(width, -1)
        q, k, v = (t.reshape(batch, length, self.heads, head).transpose(1, 2) for t in (q, k, v))
        logits = (q * head**-0.5) @ k.transpose(2, 3)
        if mask is not None:
            logits = logits.masked_fill(mask[:, None, None, :] == 0, -1e4)
        y = (torch.softmax(logits, -1) @ v).transpose(1, 2).reshape(batch, length, width)
        return x + self.out(y)


class Encoder(nn.Module):
    """Phoneme ids and style to hidden rows and log durations (log of 600-sample units)."""

    def __init__(self, c: NetworkConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(c.symbols, c.encoder)
        self.style = nn.Linear(c.style, c.encoder)
        kinds = "ccca" + "ac" + "c"
        self.blocks = nn.ModuleList(
            PhonemeConv(c.encoder, c.encoder_hidden) if k == "c" else PhonemeAttention(c.encoder, c.heads)
            for k in kinds
        )
        self.duration = nn.Linear(c.encoder, 1)

    def forward(self, ids: Tensor, style: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """(B, N), (B, S) -> hidden (B, N, C), log duration (B, N)."""
        x = self.embedding(ids) + self.style(style)[:, None]
        for block in self.blocks:
            x = block(x, mask)
        h = norm(x, self.embedding.embedding_dim)
        return h, self.duration(h)[..., 0]


class Pitch(nn.Module):
    """Hidden rows and position at frames to log F0 (natural log of Hz, centred), voicing logit and energy."""

    def __init__(self, c: NetworkConfig) -> None:
        super().__init__()
        self.enter = nn.Linear(c.encoder + 2, c.pitch)
        self.blocks = nn.ModuleList(
            ConvBlock(c.pitch, c.pitch_hidden, c.taps, LOOKAHEAD if i == 0 else 0) for i in range(3)
        )
        self.head = nn.Linear(c.pitch, 3)

    def states(self, batch: int) -> list[Tensor]:
        return [b.state(batch) for b in self.blocks]

    def forward(self, frames: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """(B, T, C + 2) -> (B, T, 3) lagging by LOOKAHEAD, next states."""
        x, after = self.enter(frames), []
        for block, state in zip(self.blocks, states, strict=True):
            x, state = block(x, state)
            after.append(state)
        return self.head(norm(x, self.head.in_features)), after


def sliding(buffer: Tensor, blocks: int, heads: int) -> tuple[Tensor, Tensor]:
    """Each chunk's window of keys and of values: (B, 24 + T, 2C) -> two of (B * blocks, heads, C / heads, 27).

    The traced form gathers whole chunks, which every ONNX runtime does well; its gradient would be slow, as would
    that of picking the halves one by one.
    """
    batch, width, span = buffer.shape[0], buffer.shape[2], CHUNK * (LEFT_CHUNKS + 1)
    shape = (batch * blocks, 2, heads, width // 2 // heads, span)
    if not torch.onnx.is_in_onnx_export():
        keys, values = buffer.unfold(1, span, CHUNK).reshape(shape).unbind(1)
        return keys, values
    index = torch.arange(blocks)[:, None] + torch.arange(LEFT_CHUNKS + 1)
    window = buffer.reshape(batch, blocks + LEFT_CHUNKS, CHUNK * width)[:, index]
    window = window.reshape(batch, blocks, -1, width).transpose(2, 3).reshape(shape)
    return window[:, 0], window[:, 1]


class ChunkAttention(nn.Module):
    """Attention of a chunk on itself and LEFT_CHUNKS chunks before it, with a learnt relative bias; then an MLP."""

    def __init__(self, width: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        nn.init.normal_(self.out.weight, std=0.02)
        self.bias = nn.Parameter(torch.zeros(1, heads, CHUNK, CHUNK * (LEFT_CHUNKS + 1)))
        self.mlp = Mlp(width, hidden)
        self.heads, self.width = heads, width

    def state(self, batch: int) -> Tensor:
        return torch.zeros(batch, CHUNK * LEFT_CHUNKS, 2 * self.width)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, C) with T a multiple of CHUNK, state of keys and values (B, 24, 2C) -> (B, T, C), next state."""
        (batch, length, _), width, heads = x.shape, self.width, self.heads
        head = width // heads
        q, kv = self.qkv(norm(x, width)).split((width, 2 * width), -1)
        buffer = torch.cat((state, kv), 1)
        blocks = length // CHUNK
        k, v = sliding(buffer, blocks, heads)  # (BN, H, D, span) each
        q = (q * head**-0.5).reshape(batch * blocks, CHUNK, heads, head).permute(0, 2, 1, 3)
        y = torch.softmax(q @ k + self.bias, -1) @ v.transpose(2, 3)
        x = x + self.out(y.permute(0, 2, 1, 3).reshape(batch, length, width))
        return x + self.mlp(norm(x, width)), buffer[:, -CHUNK * LEFT_CHUNKS :]


class Acoustic(nn.Module):
    """Hidden rows, position, log F0, voicing and energy at frames to the vocoder's features."""

    def __init__(self, c: NetworkConfig) -> None:
        super().__init__()
        self.enter = nn.Linear(c.encoder + 5, c.acoustic)
        self.film = nn.Linear(c.style, 2 * c.acoustic)
        nn.init.normal_(self.film.weight, std=0.02)
        nn.init.zeros_(self.film.bias)
        self.first = ConvBlock(c.acoustic, c.acoustic_hidden, c.taps, LOOKAHEAD)
        self.blocks = nn.ModuleList(ChunkAttention(c.acoustic, c.attention_hidden, c.heads) for _ in range(3))

    def states(self, batch: int) -> list[Tensor]:
        return [self.first.state(batch)] + [b.state(batch) for b in self.blocks]

    def forward(self, frames: Tensor, style: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """(B, T, C + 2 + 3), (B, S) -> (B, T, C) lagging by LOOKAHEAD, next states."""
        x = self.enter(frames)
        scale, shift = self.film(style)[:, None].split(self.enter.out_features, -1)
        x, after = self.first(x * (1 + scale) + shift, states[0])
        out = [after]
        for block, state in zip(self.blocks, states[1:], strict=True):
            x, state = block(x, state)
            out.append(state)
        return x, out


class Vocoder(nn.Module):
    """Features and F0 to log amplitude and phase of the harmonic part and log amplitude of the noise part."""

    def __init__(self, c: NetworkConfig) -> None:
        super().__init__()
        self.enter = nn.Linear(2, c.acoustic)
        self.blocks = nn.ModuleList(
            ConvBlock(c.acoustic, c.acoustic_hidden, c.taps) for _ in range(c.vocoder_blocks)
        )
        self.head = nn.Linear(c.acoustic, 3 * BINS)
        with torch.no_grad():
            self.head.weight.mul_(0.3)
            self.head.bias.copy_(torch.tensor([-4.0, 0.0, -7.0]).repeat_interleave(BINS))

    def states(self, batch: int) -> list[Tensor]:
        return [b.state(batch) for b in self.blocks]

    def forward(self, features: Tensor, f0: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """(B, T, C), (B, T, 2) of F0 and voicing -> (B, T, 3 * BINS), next states."""
        x, after = features + self.enter(f0), []
        for block, state in zip(self.blocks, states, strict=True):
            x, state = block(x, state)
            after.append(state)
        return self.head(norm(x, self.head.in_features)), after


class Student(nn.Module):
    """All four graphs and a style vector for each known speaker."""

    def __init__(self, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.config = config or NetworkConfig()
        self.styles = nn.Embedding(self.config.speakers, self.config.style)
        self.encoder = Encoder(self.config)
        self.pitch = Pitch(self.config)
        self.acoustic = Acoustic(self.config)
        self.vocoder = Vocoder(self.config)
