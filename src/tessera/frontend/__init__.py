"""Brings programs in: traced Python, ONNX and MLIR text. Speaks only graph."""
