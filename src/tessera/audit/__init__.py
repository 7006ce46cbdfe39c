"""Reads decisions and artifacts only: renders, compares, gates."""

from tessera.audit.lock import Finding, check_lock, lock_text, write_lock
from tessera.audit.story import render_story
from tessera.audit.table import render_json, render_text

__all__ = [
    "Finding",
    "check_lock",
    "lock_text",
    "render_json",
    "render_story",
    "render_text",
    "write_lock",
]
