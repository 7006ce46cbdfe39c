"""Values of a graph in f64 from samples of others."""

import numpy as np
import pytest
from xdsl.ir import Operation

from tessera.graph.sampling import NotSampled, ops_between, sample
from tests.support.chains import Bench


def test_only_what_lies_between_is_run_and_floats_are_not_rounded() -> None:
    bench = Bench("f16")
    x, y = bench.x("x", 3), bench.x("y", 3)
    cut = bench.op("mul", x, y)
    root = bench.op("add", cut, bench.const(np.float64(0.1)))
    ops, unknown = ops_between([root], [cut])
    assert [op.name for op in ops] == ["tessera.const", "tessera.add"]
    assert not unknown
    (found,) = sample([root], {cut: np.full(3, 1e-9)})
    np.testing.assert_array_equal(found, np.float64(np.float16(0.1)) + np.full(3, 1e-9))


def test_an_argument_that_is_not_given_is_named_unknown() -> None:
    bench = Bench()
    x, y = bench.x("x", 3), bench.x("y", 3)
    root = bench.op("add", x, y)
    assert ops_between([root], [x])[1] == [y]
    with pytest.raises(NotSampled, match="argument"):
        sample([root], {x: np.zeros(3)})


def test_an_op_that_fails_is_not_sampled() -> None:
    bench = Bench()
    x, index = bench.x("x", 3), bench.graph.input("i", "i64", (1,))
    root = bench.op("gather", x, index, axis=0)
    assert isinstance(root.owner, Operation)
    with pytest.raises(NotSampled):
        sample([root], {x: np.zeros(3), index: np.array([7])})
