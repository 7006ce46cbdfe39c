"""One class per graph op, by family."""
