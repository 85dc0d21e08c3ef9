"""Matrix products. Activations are rows, weights (K, N): BLAS gets both as they lie."""

from __future__ import annotations

import numpy as np

from .activation import rectify
from .layout import blas_ready, flat, scalar, view_as
from .operator import Array, Attributes, Binding, Node, Operator

FEW_ROWS = 6
"""Up to so many rows, BLAS is asked for a product of a vector and the matrix a row: its GEMM copies the whole matrix
first, and has no kernel for three rows. All layers of a voice: 3 rows 1358 µs as GEMM, 606 row by row; 6 rows 1305
and 958; 12 rows 1350 and 1662 (OpenBLAS 0.3.31 on x86; numpy 1.26's 0.3.23 gains more)."""


def matmul_reference(_: Attributes, x: Array, w: Array) -> Array:
    return np.matmul(x, w)


def operand(b: Binding, label: str, x: Array) -> Array:
    """x as BLAS can read it: itself, or a copy made at each run."""
    if blas_ready(x):
        return x
    copy = b.scratch(label, x.shape, x.dtype)
    b.copy(copy, x)
    return copy


def row_view(b: Binding, x: Array) -> Array:
    """x (..., K) as (rows, K)."""
    rows = view_as(x, (-1, x.shape[-1])) if x.size else x.reshape(-1, x.shape[-1])
    if rows is not None and blas_ready(rows):
        return rows
    copy = b.scratch("rows", x.shape, x.dtype)
    b.copy(copy, x)
    return copy.reshape(-1, x.shape[-1])


def bind_matmul(b: Binding, node: Node, x: Array, w: Array) -> Array:
    if x.ndim > 1 and w.ndim == 2:
        return bind_linear(b, node, x, w)
    left = operand(b, "left", x[None] if x.ndim == 1 else x)
    right = operand(b, "right", w[:, None] if w.ndim == 1 else w)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    out = b.output((*batch, *x.shape[-2:-1], *(w.shape[-1:] if w.ndim > 1 else ())), x.dtype)
    target = out[..., None, :] if x.ndim == 1 and w.ndim > 1 else out
    if w.ndim == 1:
        target = out[..., None, None] if x.ndim == 1 else out[..., None]
    b.call(np.matmul, left, right, target)
    return out


def linear_reference(attributes: Attributes, x: Array, w: Array, bias: Array | None = None) -> Array:
    y = np.matmul(x, w) if bias is None else np.matmul(x, w) + bias
    return np.maximum(y, np.float32(0)) if attributes.get("activation") == "Relu" else y


def product(b: Binding, x: Array, w: Array, out: Array) -> None:
    """x (..., T, K) times w (..., K, N) into out (..., T, N), a row at a time where there are few."""
    if 1 < x.shape[-2] <= FEW_ROWS:
        x, w, out = x[..., None, :], w[..., None, :, :], out[..., None, :]
    b.call(np.matmul, x, w, out)


def bind_linear(b: Binding, node: Node, x: Array, w: Array, bias: Array | None = None) -> Array:
    """x (..., K) times w (K, N), plus bias (N), then max(., 0) where activation is Relu."""
    rows = row_view(b, x)
    out = b.rows((*x.shape[:-1], w.shape[1]), x.dtype)
    product(b, rows, operand(b, "right", w), out.reshape(-1, w.shape[1]))
    return finish(b, node, out, bias)


def finish(b: Binding, node: Node, out: Array, bias: Array | None) -> Array:
    """out (..., N) plus bias (N), then max(., 0) where activation is Relu."""
    target = out.reshape(-1, out.shape[-1])
    if bias is not None:
        b.call(np.add, *flat(target, b.repeated(bias, len(target)), target))
    if node.attributes.get("activation") == "Relu":
        rectify(b, target, target)
    return out


def block_linear_reference(attributes: Attributes, x: Array, w: Array, bias: Array | None = None) -> Array:
    y = np.matmul(x, w).swapaxes(-2, -3)
    y = y.reshape(*y.shape[:-2], -1)
    y = y if bias is None else y + bias
    return np.maximum(y, np.float32(0)) if attributes.get("activation") == "Relu" else y


def bind_block_linear(b: Binding, node: Node, x: Array, w: Array, bias: Array | None = None) -> Array:
    """x (..., B, T, K), the inputs of each block, times w (B, K, V) -> (..., T, B V), each block in its columns."""
    blocks, _, each = w.shape
    out = b.rows((*x.shape[:-3], x.shape[-2], blocks * each), x.dtype)
    target = out.reshape(*x.shape[:-3], x.shape[-2], blocks, each).swapaxes(-2, -3)
    product(b, operand(b, "left", x), w, target)
    return finish(b, node, out, bias)


def expand_reference(q: Array, scale: Array) -> Array:
    """INT8 weights (..., K, N) times a scale for each group of inputs and output (..., K / g, N)."""
    return q.astype(np.float32) * np.repeat(scale, q.shape[-2] // scale.shape[-2], -2)


def expand(b: Binding, q: Array, scale: Array) -> Array:
    """The same, into scratch at each run."""
    w = b.scratch("weights", q.shape)
    b.copy(w, q)
    groups = w.reshape(*scale.shape[:-1], -1, scale.shape[-1])  # (..., K / g, g, N)
    b.call(np.multiply, groups, scale[..., None, :], groups)
    return w


def int8_linear_reference(
    attributes: Attributes, x: Array, q: Array, scale: Array, bias: Array | None = None
) -> Array:
    linear = linear_reference if q.ndim == 2 else block_linear_reference
    return linear(attributes, x, expand_reference(q, scale), bias)


def bind_int8_linear(
    b: Binding, node: Node, x: Array, q: Array, scale: Array, bias: Array | None = None
) -> Array:
    """Linear or BlockLinear whose weights stay INT8 in memory."""
    bind = bind_linear if q.ndim == 2 else bind_block_linear
    return bind(b, node, x, expand(b, q, scale), bias)


def gemm_reference(attributes: Attributes, a: Array, b: Array, c: Array | None = None) -> Array:
    a = a.T if attributes.get("transA", 0) else a
    b = b.T if attributes.get("transB", 0) else b
    y = np.float32(attributes.get("alpha", 1.0)) * (a @ b)
    return y if c is None else y + np.float32(attributes.get("beta", 1.0)) * c


def bind_gemm(b: Binding, node: Node, x: Array, w: Array, c: Array | None = None) -> Array:
    x = x.T if node.attributes.get("transA", 0) else x
    w = w.T if node.attributes.get("transB", 0) else w
    alpha, beta = node.attributes.get("alpha", 1.0), node.attributes.get("beta", 1.0)
    out = b.output((x.shape[0], w.shape[1]), x.dtype)
    b.call(np.matmul, operand(b, "left", x), operand(b, "right", w), out)
    if alpha != 1:
        b.call(np.multiply, out, scalar(alpha), out)
    if c is not None and beta != 1:
        scaled = b.scratch("scaled", c.shape)
        b.call(np.multiply, c, scalar(beta), scaled)
        c = scaled
    if c is not None:
        b.call(np.add, out, c, out)
    return out


OPERATORS = {
    "MatMul": Operator(matmul_reference, bind_matmul),
    "Gemm": Operator(gemm_reference, bind_gemm),
}
FUSED = {
    "Linear": Operator(linear_reference, bind_linear),
    "BlockLinear": Operator(block_linear_reference, bind_block_linear),
    "Int8Linear": Operator(int8_linear_reference, bind_int8_linear),
}
