"""ONNX files and protos in, a Graph IR module out.

`onnx` itself is imported only when a model is: the extra `onnx` brings it.
"""

from tessera.frontend.onnx.importer import import_model, import_proto

__all__ = ["import_model", "import_proto"]
