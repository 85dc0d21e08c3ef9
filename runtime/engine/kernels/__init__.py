"""The operators the engine runs, one family a file, each with its naive reference beside the kernel."""

from . import activation, conv, elementwise, join, matmul, normal, quantise, reduce, shape
from .operator import Operator

OPERATORS: dict[str, Operator] = {
    **elementwise.OPERATORS,
    **activation.OPERATORS,
    **matmul.OPERATORS,
    **conv.OPERATORS,
    **normal.OPERATORS,
    **reduce.OPERATORS,
    **shape.OPERATORS,
    **join.OPERATORS,
    **quantise.OPERATORS,
}
"""Operators a file may use, by ONNX name."""

FUSED: dict[str, Operator] = {**matmul.FUSED, **conv.FUSED, **join.FUSED}
"""Operators that only the engine's own rewriting makes."""
