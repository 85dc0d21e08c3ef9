"""Matrix products. Activations are rows, weights (K, N): BLAS gets both as they lie."""

from __future__ import annotations

import numpy as np

from .activation import rectify
from .layout import blas_ready, scalar, view_as
from .operator import Array, Attributes, Binding, Node, Operator


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


def bind_linear(b: Binding, node: Node, x: Array, w: Array, bias: Array | None = None) -> Array:
    """x (..., K) times w (K, N), plus bias (N), then max(., 0) where activation is Relu."""
    rows = row_view(b, x)
    out = b.rows((*x.shape[:-1], w.shape[1]), x.dtype)
    target = out.reshape(-1, w.shape[1])
    b.call(np.matmul, rows, operand(b, "right", w), target)
    if bias is not None:
        b.call(np.add, target, bias, target)
    if node.attributes.get("activation") == "Relu":
        rectify(b, target, target)
    return out


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
FUSED = {"Linear": Operator(linear_reference, bind_linear)}
