"""1-D convolutions, computed on rows (frames, channels) whatever the axis order the graph writes.

ONNX wants (batch, channels, frames). The kernels read and write memory where channels lie side by side and
hand back a transposed view, so the Transpose nodes that exporters put around a Conv cost nothing.
"""

from __future__ import annotations

import numpy as np

from ...errors import ModelError
from .layout import filled, flat, strided
from .operator import Array, Attributes, Binding, Node, Operator

BLOCK_BYTES = 128 * 1024
"""Scratch of a depthwise convolution: products of one block of rows stay in the second-level cache."""


def span(attributes: Attributes, taps: int) -> tuple[int, int, int, int]:
    """Stride, dilation, zeros before and after, in frames."""
    stride, dilation = attributes.get("strides", (1,))[0], attributes.get("dilations", (1,))[0]
    if attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise ModelError("Conv with auto_pad SAME is not supported; export explicit pads")
    before, after = attributes.get("pads", (0, 0))
    return stride, dilation, before, after


def conv_reference(attributes: Attributes, x: Array, w: Array, bias: Array | None = None) -> Array:
    """x (N, C, T), w (M, C / group, K) -> (N, M, T'), by the definition, one output frame at a time."""
    stride, dilation, before, after = span(attributes, w.shape[2])
    group = attributes.get("group", 1)
    x = np.pad(x, ((0, 0), (0, 0), (before, after)))
    reach = (w.shape[2] - 1) * dilation + 1
    frames = (x.shape[2] - reach) // stride + 1
    out = np.zeros((x.shape[0], w.shape[0], frames), x.dtype)
    for t in range(frames):
        window = x[:, :, t * stride : t * stride + reach : dilation]
        parts = zip(np.split(window, group, axis=1), np.split(w, group), strict=True)
        out[:, :, t] = np.concatenate([np.einsum("nck,mck->nm", a, c) for a, c in parts], axis=1)
    return out if bias is None else out + bias[:, None]


def prepare(w: Array, group: int) -> tuple[str, Array]:
    """The fused operator for weights (M, C / group, K), and the weights as it wants them."""
    outputs, inputs, taps = w.shape
    if inputs == 1 and outputs == group:
        return "DepthwiseConv", np.ascontiguousarray(w[:, 0].T)  # (K, C)
    grouped = w.reshape(group, outputs // group, inputs, taps).transpose(0, 3, 2, 1)
    return "GroupedConv", np.ascontiguousarray(grouped)  # (G, K, C / G, M / G)


def padded_rows(b: Binding, node: Node, x: Array, taps: int) -> tuple[Array, int, int, int]:
    """x (N, C, T) as rows (N, before + T + after, C), channels side by side; stride, dilation, frames out."""
    stride, dilation, before, after = span(dict(node.attributes), taps)
    rows = x.transpose(0, 2, 1)
    batch, length, channels = rows.shape
    if before or after or rows.strides[2] != rows.itemsize:
        padded = b.scratch("padded", (batch, before + length + after, channels))
        for edge in (padded[:, :before], padded[:, before + length :]):
            if edge.size:
                b.call(edge.fill, 0)
        b.copy(padded[:, before : before + length], rows)
        rows = padded
    frames = (rows.shape[1] - (taps - 1) * dilation - 1) // stride + 1
    if frames < 1:
        raise ModelError(f"node '{node.name}': {length} frames are too few for a convolution of {taps} taps")
    return rows, stride, dilation, frames


def bind_depthwise(b: Binding, node: Node, x: Array, w: Array, bias: Array | None = None) -> Array:
    """Windows times weights (K, C) into scratch, then summed over taps by one product with ones."""
    taps, channels = w.shape
    rows, stride, dilation, frames = padded_rows(b, node, x, taps)
    out = b.rows((x.shape[0], frames, channels), x.dtype)
    block = max(1, min(frames, BLOCK_BYTES // (taps * channels * 4)))
    products = b.scratch("products", (block, taps, channels))
    down, right = rows.strides[1:]
    ones = filled(taps, 1)
    for n in range(x.shape[0]):
        windows = strided(rows[n], (frames, taps, channels), (stride * down, dilation * down, right))
        for start in range(0, frames, block):
            part = products[: min(block, frames - start)]
            b.call(np.multiply, windows[start : start + block], w, part)
            b.call(np.matmul, ones, part, out[n, start : start + block])
    if bias is not None:
        target = out.reshape(-1, channels)
        b.call(np.add, *flat(target, b.repeated(bias, len(target)), target))
    return out.transpose(0, 2, 1)


def bind_grouped(b: Binding, node: Node, x: Array, w: Array, bias: Array | None = None) -> Array:
    """Each window as one row (K C / G) times weights (G, K, C / G, M / G)."""
    group, taps, inputs, outputs = w.shape
    rows, stride, dilation, frames = padded_rows(b, node, x, taps)
    batch, item = x.shape[0], rows.itemsize
    shape = (batch, group, frames, taps, inputs)
    whole, down, _ = rows.strides
    windows = strided(rows, shape, (whole, inputs * item, stride * down, dilation * down, item))
    if taps == 1:
        flat_windows = windows[:, :, :, 0]
    else:
        gathered = b.scratch("windows", shape)
        b.copy(gathered, windows)
        flat_windows = gathered.reshape(batch, group, frames, taps * inputs)
    out = b.rows((batch, frames, group * outputs), x.dtype)
    target = out.reshape(batch, frames, group, outputs).transpose(0, 2, 1, 3)
    b.call(np.matmul, flat_windows, w.reshape(group, taps * inputs, outputs), target)
    if bias is not None:
        b.call(np.add, out, bias, out)
    return out.transpose(0, 2, 1)


def unfused_reference(attributes: Attributes, x: Array, w: Array, bias: Array | None = None) -> Array:
    """The fused operators' reference: undo prepare(), then convolve by the definition."""
    if w.ndim == 2:
        return conv_reference(attributes, x, w.T[:, None], bias)
    group, taps, inputs, outputs = w.shape
    return conv_reference(attributes, x, w.transpose(0, 3, 2, 1).reshape(group * outputs, inputs, taps), bias)


OPERATORS = {"Conv": Operator(conv_reference)}
FUSED = {
    "DepthwiseConv": Operator(unfused_reference, bind_depthwise),
    "GroupedConv": Operator(unfused_reference, bind_grouped),
}
