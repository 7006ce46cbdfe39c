"""The kernel contract, the matcher, recognition, and the stamp (the emit half)."""
