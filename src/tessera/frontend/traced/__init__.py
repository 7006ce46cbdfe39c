"""Traced Python: a function run once on stand-ins for its arrays becomes a graph."""
