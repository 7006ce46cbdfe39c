"""Pass pipelines as text."""

from typing import Any

import pytest

from tessera.cli.pipeline import Pipelines
from tessera.diagnostics import TesseraError
from tessera.graph.cleanups import CLEANUPS
from tests.unit.opt.support import CATALOG, Say

PIPELINES = Pipelines({**CLEANUPS, **CATALOG.PASSES}, CATALOG.PIPELINES)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("cse", ["cse"]),
        ("cse,dce", ["cse", "dce"]),
        ("builtin.module()", []),
        ("builtin.module(cse, dce)", ["cse", "dce"]),
        ("builtin.module(func.func(cse,dce),cse)", ["cse", "dce", "cse"]),
        (" builtin.module( any( cse ) , dce ) ", ["cse", "dce"]),
        ("builtin.module(func.func(),cse)", ["cse"]),
        ("builtin.module(say-and-clean,say{op=add})", ["say", "dce", "say"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert [stage.name for stage in PIPELINES.parse(text)] == names


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ("", Say()),
        ("op=add", Say(op="add")),
        (
            'op=add what="two words, and {braces}"',
            Say("add", "two words, and {braces}"),
        ),
        ("times=3 factor=-1.5e2 only=1,2", Say(times=3, factor=-150.0, only=(1, 2))),
        ("only= factor", Say()),
        ("what={a b}", Say(what="a b")),
    ],
)
def test_options(options: str, made: Say) -> None:
    for text in (f"say{{{options}}}", f"builtin.module(say{{{options}}})"):
        (stage,) = PIPELINES.parse(text)
        assert stage.run == made
    (stage,) = PIPELINES.named("say", options)
    assert stage.run == made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nope", "'nope' is no pass"),
        ("cse,", "ends where a pass was wanted"),
        (",cse", "unexpected ','"),
        ("cse,,dce", "unexpected ','"),
        ("cse dce", "unexpected 'dce'"),
        ("builtin.module(cse", "lacks 1 closing"),
        ("builtin.module(cse,)", "unexpected '\\)'"),
        ("cse)", "unexpected '\\)'"),
        ("gpu.module(cse)", "'gpu.module' holds no passes"),
        ("say{op=add", "lacks a closing brace"),
        ("say{nope=1}", "'say' has no option 'nope', wanted op or what"),
        ("cse{nope=1}", "'cse' has no option 'nope', wanted no option"),
        ("say{times=many}", "option 'times' of 'say' is 'many', wanted int"),
        ("say{times}", "option 'times' of 'say' is '', wanted int"),
        ("say{=3}", "cannot be read"),
        ("say-and-clean{a=1}", "takes no options"),
        ("cse;dce", "cannot be read from ';dce' on"),
    ],
)
def test_refusals(text: str, said: str) -> None:
    with pytest.raises(TesseraError, match=said) as caught:
        PIPELINES.parse(text)
    assert caught.value.code.id == "TSR-G026"


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [(bool, None, True), (bool, "false", False), (bool | None, None, None)],
)
def test_flags(hint: Any, text: str | None, value: bool | None) -> None:
    from tessera.cli.pipeline import option_value

    assert option_value(text, hint) is value
