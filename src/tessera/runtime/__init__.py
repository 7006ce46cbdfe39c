"""Loads an artifact, binds buffers, launches, times. Knows no compiler room."""
