"""LLVM text for CPUs: blocks that kernels call, so that no kernel writes IR by hand.

`builder` has values, loops and choices; `math` functions of vectors; `memory` element
types, transposed blocks and packing; `tile` the register-tile product; `stream` attention
over blocks of keys; `frame` how a kernel meets its caller; `host` what is known of CPUs.
"""
