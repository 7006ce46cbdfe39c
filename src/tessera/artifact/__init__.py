"""What can be shipped and run: a program, its weights, and the folder that holds them.

Reading one needs neither the compiler nor xDSL, and nothing that is read is executed.
Running one runs the native code it holds: run only what you would run as a program.
"""

from tessera.artifact.check import check_program
from tessera.artifact.files import replacing
from tessera.artifact.folder import Artifact, load, save
from tessera.artifact.program import Call, Native, Program, Step, Value, code_name

__all__ = [
    "Artifact",
    "Call",
    "Native",
    "Program",
    "Step",
    "Value",
    "check_program",
    "code_name",
    "load",
    "replacing",
    "save",
]
