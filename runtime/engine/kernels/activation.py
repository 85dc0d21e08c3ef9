"""Activations: one output array, worked on in place."""

from __future__ import annotations

import numpy as np

from .layout import ROW_ELEMENTS, filled, flat, scalar
from .operator import Array, Attributes, Binding, Node, Operator

# erf by the rational fit 7.1.26 of Abramowitz and Stegun: |error| < 1.5e-7.
ERF_P = 0.3275911
ERF_A = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def maximum(x: Array, y: Array, out: Array) -> None:
    np.maximum(x, y, out=out)  # numpy 2.4 warns about a positional third argument


def minimum(x: Array, y: Array, out: Array) -> None:
    np.minimum(x, y, out=out)


def relu_reference(_: Attributes, x: Array) -> Array:
    return np.maximum(x, x.dtype.type(0))


def rectify(b: Binding, x: Array, out: Array) -> None:
    """out = max(x, 0). Against an array of zeros, because numpy's maximum with a scalar is not vectorised."""
    if x.dtype != np.float32 or not x.ndim:
        b.call(maximum, x, scalar(0, x.dtype), out)
    elif x.size <= ROW_ELEMENTS and x.flags.c_contiguous and out.flags.c_contiguous:
        b.call(maximum, x.reshape(-1), filled(ROW_ELEMENTS, 0)[: x.size], out.reshape(-1))
    else:
        b.call(maximum, x, filled(x.shape[-1], 0), out)


def bind_relu(b: Binding, node: Node, x: Array) -> Array:
    out = b.output(x.shape, x.dtype, reuse=(x,))
    rectify(b, x, out)
    return out


def leaky_relu_reference(attributes: Attributes, x: Array) -> Array:
    return np.where(x < 0, x * np.float32(attributes.get("alpha", 0.01)), x)


def bind_leaky_relu(b: Binding, node: Node, x: Array) -> Array:
    """max(x, alpha x) for 0 <= alpha <= 1, min otherwise: no comparison, no mask."""
    alpha = node.attributes.get("alpha", 0.01)
    scaled = b.scratch("scaled", x.shape)
    out = b.output(x.shape, x.dtype, reuse=(x,))
    x_, scaled_, out_ = flat(x, scaled, out)
    b.call(np.multiply, x_, scalar(alpha), scaled_)
    b.call(maximum if alpha <= 1 else minimum, x_, scaled_, out_)
    return out


def sigmoid_reference(_: Attributes, x: Array) -> Array:
    return (0.5 * np.tanh(0.5 * x.astype(np.float64)) + 0.5).astype(x.dtype)


def bind_sigmoid(b: Binding, node: Node, x: Array) -> Array:
    """1/2 tanh(x/2) + 1/2: exact, and cannot overflow."""
    out = b.output(x.shape, x.dtype, reuse=(x,))
    x_, out_ = flat(x, out)
    half = scalar(0.5)
    b.call(np.multiply, x_, half, out_)
    b.call(np.tanh, out_, out_)
    b.call(np.multiply, out_, half, out_)
    b.call(np.add, out_, half, out_)
    return out


def softplus_reference(_: Attributes, x: Array) -> Array:
    return np.logaddexp(x, x.dtype.type(0))


def bind_softplus(b: Binding, node: Node, x: Array) -> Array:
    out = b.output(x.shape, x.dtype, reuse=(x,))
    x_, out_ = flat(x, out)
    b.call(np.logaddexp, x_, scalar(0), out_)
    return out


def tanh_reference(_: Attributes, x: Array) -> Array:
    return np.tanh(x)


def bind_tanh(b: Binding, node: Node, x: Array) -> Array:
    out = b.output(x.shape, x.dtype, reuse=(x,))
    b.call(np.tanh, *flat(x, out))
    return out


def erf_reference(_: Attributes, x: Array) -> Array:
    z = np.abs(x.astype(np.float64))
    t = 1 / (1 + ERF_P * z)
    series = sum(a * t ** (power + 1) for power, a in enumerate(ERF_A))
    return (np.sign(x) * (1 - series * np.exp(-z * z))).astype(x.dtype)


def bind_erf(b: Binding, node: Node, x: Array) -> Array:
    """sign(x) (1 - exp(-x^2) t (a1 + t (a2 + ...))) with t = 1 / (1 + p |x|), by Horner's scheme."""
    t, series = b.scratch("t", x.shape), b.scratch("series", x.shape)
    out = b.output(x.shape, x.dtype)
    x_, t_, series_, out_ = flat(x, t, series, out)
    b.call(np.absolute, x_, t_)
    b.call(np.multiply, t_, scalar(ERF_P), t_)
    b.call(np.add, t_, scalar(1), t_)
    b.call(np.reciprocal, t_, t_)
    b.call(np.multiply, t_, scalar(ERF_A[-1]), series_)
    for a in ERF_A[-2::-1]:
        b.call(np.add, series_, scalar(a), series_)
        b.call(np.multiply, series_, t_, series_)
    b.call(np.multiply, x_, x_, t_)
    b.call(np.negative, t_, t_)
    b.call(np.exp, t_, t_)
    b.call(np.multiply, series_, t_, series_)
    b.call(np.subtract, scalar(1), series_, series_)
    b.call(np.copysign, series_, x_, out_)
    return out


def clip_reference(_: Attributes, x: Array, low: Array | None = None, high: Array | None = None) -> Array:
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def bind_clip(b: Binding, node: Node, x: Array, low: Array | None = None, high: Array | None = None) -> Array:
    out = b.output(x.shape, x.dtype, reuse=(x,))
    source, out_ = flat(x, out)
    for bound, kernel in ((low, maximum), (high, minimum)):
        if bound is not None:
            b.call(kernel, source, bound.reshape(()), out_)
            source = out_
    if source is not out_ and out is not x:
        b.copy(out, x)
    return out


OPERATORS = {
    "Relu": Operator(relu_reference, bind_relu),
    "LeakyRelu": Operator(leaky_relu_reference, bind_leaky_relu),
    "Sigmoid": Operator(sigmoid_reference, bind_sigmoid),
    "Softplus": Operator(softplus_reference, bind_softplus),
    "Tanh": Operator(tanh_reference, bind_tanh),
    "Erf": Operator(erf_reference, bind_erf),
    "Clip": Operator(clip_reference, bind_clip),
}
