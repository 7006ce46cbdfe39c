"""Raising: regions of arithmetic become the composite ops that they spell."""

from tessera.graph.raising.raise_compositions import RAISE, RaiseCompositions

__all__ = ["RAISE", "RaiseCompositions"]
