"""What can be shipped and run: a program, its weights, and the folder that holds them.

Reading one needs neither the compiler nor xDSL, and nothing that is read is executed.
"""

from tessera.artifact.check import check_program
from tessera.artifact.files import replacing
from tessera.artifact.folder import Artifact, load, save
from tessera.artifact.program import Call, Program, Step, Value

__all__ = [
    "Artifact",
    "Call",
    "Program",
    "Step",
    "Value",
    "check_program",
    "load",
    "replacing",
    "save",
]
