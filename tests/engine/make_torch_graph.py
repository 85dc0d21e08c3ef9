"""Writes data/torch_stream.onnx and data/torch_encoder.onnx: what torch really emits for our building blocks.

Run with the `export` extra: `python tests/engine/make_torch_graph.py`; tests only read the files.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

DATA = Path(__file__).parent / "data"
HEADS, BLOCK, LEFT = 2, 3, 6


class CausalBlock(nn.Module):
    """ConvNeXt block over (1, T, C) whose 13-tap convolution reads a state of 12 frames."""

    def __init__(self, width: int, hidden: int, taps: int = 13) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, taps, groups=width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.width = width

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        padded = torch.cat([state, x], dim=1)
        y = self.conv(padded.transpose(1, 2)).transpose(1, 2)
        y = functional.layer_norm(y, (self.width,))
        return x + self.down(functional.relu(self.up(y))), padded[:, -state.shape[1] :]


class ChunkAttention(nn.Module):
    """Blocks of 3 frames attend to themselves and 6 frames of left context."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.randn(HEADS, BLOCK, LEFT + BLOCK))
        self.width = width

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        width = self.width
        q, k, v = self.qkv(functional.layer_norm(x, (width,))).chunk(3, dim=-1)
        past = torch.cat([state, torch.cat([k, v], dim=-1)], dim=1)
        blocks = x.shape[1] // BLOCK
        index = torch.arange(blocks)[:, None] * BLOCK + torch.arange(LEFT + BLOCK)[None, :]
        windows = torch.index_select(past[0], 0, index.reshape(-1)).reshape(
            blocks, LEFT + BLOCK, 2, HEADS, -1
        )
        keys, values = windows.permute(2, 0, 3, 1, 4).unbind(0)
        queries = q.reshape(blocks, BLOCK, HEADS, -1).permute(0, 2, 1, 3)
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(width // HEADS) + self.bias
        mixed = functional.softmax(scores, dim=-1) @ values
        y = mixed.permute(0, 2, 1, 3).reshape(1, x.shape[1], width)
        return x + self.out(y), past[:, -LEFT:]


class Stream(nn.Module):
    """One of each, with style conditioning, as the acoustic graph has them."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.film, self.width = nn.Linear(8, 2 * width), width
        self.first, self.second = CausalBlock(width, 3 * width), CausalBlock(width, 2 * width, 5)
        self.attention = ChunkAttention(width)

    def forward(self, x: Tensor, style: Tensor, a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, ...]:
        scale, shift = self.film(style).chunk(2, dim=-1)
        x = x * (1 + scale[:, None]) + shift[:, None]
        x, a = self.first(x, a)
        x, b = self.attention(x, b)
        x, c = self.second(x, c)
        return functional.layer_norm(x, (self.width,)), a, b, c


class Encoder(nn.Module):
    """Embedding, a same-padded convolution, full attention with an arange-based relative bias, two heads."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, width)
        self.conv = nn.Conv1d(width, width, 5, padding=2, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.relative = nn.Parameter(torch.randn(9, HEADS))
        self.head = nn.Linear(width, 1)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        x = self.embedding(ids)
        y = self.norm(self.conv(x.transpose(1, 2)).transpose(1, 2))
        x = x + self.down(functional.gelu(self.up(y)))
        count = x.shape[1]
        q, k, v = (
            part.reshape(1, count, HEADS, -1).permute(0, 2, 1, 3)
            for part in self.qkv(x).split(x.shape[-1], dim=-1)
        )
        place = torch.arange(count)
        distance = (place[None, :] - place[:, None]).clamp(-4, 4) + 4
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + self.relative[distance].permute(2, 0, 1)
        x = x + (functional.softmax(scores, dim=-1) @ v).permute(0, 2, 1, 3).reshape(1, count, -1)
        return x, self.head(x)[..., 0]


def export(model: nn.Module, args: tuple[Tensor, ...], names: tuple[list[str], list[str]], axis: str) -> None:
    inputs, outputs = names
    dynamic = {n: {1: axis} for n in inputs + outputs if "state" not in n and n != "style"}
    path = DATA / f"torch_{type(model).__name__.lower()}.onnx"
    torch.onnx.export(
        model.eval(), args, str(path), dynamo=False, opset_version=17,
        input_names=inputs, output_names=outputs, dynamic_axes=dynamic,
    )  # fmt: skip


def main() -> None:
    torch.manual_seed(0)
    states = (torch.zeros(1, 12, 16), torch.zeros(1, LEFT, 32), torch.zeros(1, 4, 16))
    state_names = ["conv0_state", "attention_state", "conv1_state"]
    inputs = ["x", "style", *(f"{n}_in" for n in state_names)]
    outputs = ["y", *(f"{n}_out" for n in state_names)]
    export(Stream(), (torch.randn(1, 6, 16), torch.randn(1, 8), *states), (inputs, outputs), "T")
    export(Encoder(), (torch.randint(0, 20, (1, 7)),), (["ids"], ["h", "duration"]), "N")


if __name__ == "__main__":
    main()
