"""Reads decisions and artifacts only: renders, compares, gates."""
