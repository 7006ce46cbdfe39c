"""Comparing modules, the names of values apart."""

from xdsl.dialects.builtin import ModuleOp

from tessera.graph.text import print_module


def difference(first: ModuleOp, second: ModuleOp) -> str | None:
    """Where two modules part: a line of each; None when they are the same.

    Attributes are compared without their order, places too.
    """
    same = first.is_structurally_equivalent(second)
    ours = [op.location for op in first.walk()]
    theirs = [op.location for op in second.walk()]
    if same and ours == theirs:
        return None
    lines = [_lines(first), _lines(second)]
    for a, b in zip(*lines, strict=False):
        if a != b:
            return f"{a}\nis not\n{b}"
    return f"{len(lines[0])} lines and {len(lines[1])}, or what the text does not show"


def _lines(module: ModuleOp) -> list[str]:
    """The text of a copy without the names of values, attributes in order of name."""
    copy = module.clone()
    for op in copy.walk():
        op.attributes = dict(sorted(op.attributes.items()))
        op.properties = dict(sorted(op.properties.items()))
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None
    return print_module(copy, debuginfo=True, generic=True).splitlines()
