"""Tessera: a tensor compiler for Apple silicon that says what it fused and why."""
