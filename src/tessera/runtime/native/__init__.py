"""Machine code on this host: compiled from a program's texts, kept on disk, launched.

Knows LLVM's language and the frame of `artifact.Native`, and nothing of any kernel.
"""

from tessera.runtime.native.launch import Launcher, launcher
from tessera.runtime.native.llvm import host_features

__all__ = ["Launcher", "host_features", "launcher"]
