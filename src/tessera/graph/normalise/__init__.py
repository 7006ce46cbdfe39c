"""One normal form: the passes that give every idea of a graph one spelling."""

from tessera.graph.normalise.normalise_graph import NORMALISE, NormaliseGraph

__all__ = ["NORMALISE", "NormaliseGraph"]
