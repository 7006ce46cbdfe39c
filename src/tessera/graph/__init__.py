"""Graph IR: dialect, shape rules, normal form, text in and out, weights by handle."""
