"""The shared blocks that kernels' CPU and Metal spellings are built from."""
