"""Apple Target IR: dialect, the consume half, per-op lowering, device limits."""
