"""Every host record compiles for its own CPUs, and calls nothing from outside."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest

from tessera.artifact import Value
from tessera.codegen.cpu.host import HOSTS, Host, find_host
from tessera.kernels.matmul_gelu import KERNEL as GELU
from tessera.kernels.matmul_softmax_matmul import KERNEL as ATTENTION
from tests.support.native import text_of

CPUS = {
    "avx512": ("x86_64-unknown-linux-gnu", "skylake-avx512"),
    "avx2": ("x86_64-apple-macosx14", "haswell"),
    "neon": ("arm64-apple-macosx14", "apple-m1"),
}


def assembly(text: str, host: Host) -> str:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple, cpu = CPUS[host.name]
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2)
    return machine.emit_assembly(llvm.parse_assembly(text))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_it_calls_only_itself(host: Host, dtype: str) -> None:
    def values(*names: str) -> dict[str, Value]:
        return {name: Value(name, dtype, (None,) * 3) for name in names}

    masked = values("q", "k", "v", "mask", "out")
    options = {"causal": "top_left", "softcap": 5.0}
    texts = (
        text_of(ATTENTION, masked, options, host),
        text_of(GELU, values("x", "w", "out"), {}, host),
    )
    for text in texts:
        called = re.findall(r"\b(?:callq?|bl)\s+_*(\w+)", assembly(text, host))
        assert {name for name in called if not name.startswith("tessera_")} == set()


def test_a_host_is_the_widest_record_its_features_allow() -> None:
    everything = dict.fromkeys(set().union(*(host.needs for host in HOSTS)), True)
    assert find_host(everything) is HOSTS[0]
    assert find_host({**everything, "avx512dq": False}) is HOSTS[1]
    assert find_host({"neon": True}) is HOSTS[2]
    assert find_host({"sse2": True}) is None
