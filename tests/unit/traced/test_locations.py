"""Where each op says it came from."""

import numpy as np

import tessera
from tessera import ops
from tessera.graph.locations import location_of
from tests.unit.traced.support import normal, traced_module


class Model:
    def attend(self, x):
        return ops.softmax(x @ x.T)


def model(x):
    with tessera.scope("encoder.0"):
        y = Model().attend(x)
    return [ops.gelu(y) for _ in range(1)][0]  # noqa: RUF015


def places(module):
    return {op.name: location_of(op) for op in module.walk() if "tessera." in op.name}


def test_an_op_carries_file_line_layer_and_name() -> None:
    found = places(traced_module(model, normal(0, 3, 4)))
    softmax = found["tessera.softmax"]
    assert softmax.file == __file__
    assert softmax.line == Model.attend.__code__.co_firstlineno + 1
    assert softmax.layer == "encoder.0.Model.attend"
    assert softmax.name == "softmax"
    assert found["tessera.gelu"].layer == "model"
    assert found["tessera.matmul"].column > softmax.column


def test_the_location_is_in_the_text() -> None:
    from io import StringIO

    from xdsl.printer import Printer

    module = traced_module(model, np.ones((2, 2), np.float32))
    out = StringIO()
    Printer(out, print_debuginfo=True).print_op(module)
    assert 'loc("encoder.0.Model.attend/softmax"' in out.getvalue()
