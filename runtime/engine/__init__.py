"""Runs ONNX graphs as flat lists of numpy calls in memory planned beforehand. Knows no speech."""

from .graph import Graph, ValueInfo, load_graph
from .program import Bound, Program
from .rewrite import WEIGHTS

__all__ = ["WEIGHTS", "Bound", "Graph", "Program", "ValueInfo", "load_graph"]
