"""The record of every fusion decision: what the compiler writes and audit reads.

One `Site` per place where a fusion was made, refused or found not to pay; a `Document`
is the sites of one compilation.  Its JSON form is described by `decisions.schema.json`,
which is shipped beside this module.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from tessera.diagnostics import TesseraError, declare

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA = "tessera.decisions/1"
T = TypeVar("T")

Outcome = Literal["fused", "refused", "not_profitable"]
Source = Literal["descriptor", "rediscovered", "composite_op"]
IntentVerdict = Literal["honoured", "contradicted", "absent"]
Placement = Literal["metal", "emulator", "native", "library", "reference"]

JSON: TypeAlias = (
    "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
)

BAD_DOCUMENT = declare(
    "TSR-R020",
    "a decisions document does not have the promised form",
    "A decisions.json (or the output of `tessera audit --format json`) must follow the "
    "schema tessera.decisions/1. The message names the first entry that does not. "
    "Compile the model again to get a fresh document.",
    "error",
)


@dataclass(frozen=True)
class Member:
    """One op and where the model has it.

    `op` is the graph's name of it, `location` `file:line:column`, `layer` the model's own
    scope, `name` the model's own name of the node (in ONNX, of its output).
    """

    op: str
    location: str = ""
    layer: str = ""
    name: str = ""


@dataclass(frozen=True)
class Operand:
    """What a call reads: `role` in the kernel, `op` that makes it, `type` as f32[2x?].

    `op` is "argument" for an input of the function; `name` is that of the input, of the
    weight or of the node.
    """

    role: str
    op: str
    type: str
    name: str = ""
    location: str = ""


@dataclass(frozen=True)
class Call:
    """The fused call of a site: its entry symbol and operands, in call order."""

    symbol: str
    operands: tuple[Operand, ...] = ()

    def __post_init__(self) -> None:
        operands = [_made(Operand, item) for item in self.operands]
        object.__setattr__(self, "operands", tuple(operands))


@dataclass(frozen=True)
class Step:
    """What one pass did to the ops of a site: how many of which it removed and made.

    `changed` are options that it changed in place, as text.
    """

    pass_: str
    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    made: Mapping[str, int] = field(default_factory=dict[str, int])
    changed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "changed", tuple(self.changed))


@dataclass(frozen=True, kw_only=True)
class Site:
    """One place where a fusion was decided.

    `None` means that the field does not apply: a refused site has no kernel, a site
    without intent no `intent`.  A fused site names `kernel` and `source`; any other
    names `code` and `predicate`.  `found`, `wanted`, `suggestion` are text for people.

    `location` is `file:line:col` or the node's name, `layer` the model's own scope
    (`encoder.layer.0.attention`), `ops` the names of the covered ops in program order,
    `nearest` the kernel whose pattern came closest, `semantics` the options that the
    kernel honours (scale, causal, …), `placement` what really runs the site.
    `bytes_saved` are bytes of memory traffic per run, `launches_saved` launches per
    run, `flops` operations per run; `max_error` is absolute, when measured.

    The trail: `pass_` (JSON `pass`) is the pass that decided, `imported` are the ops as
    the model wrote them, `members` the ops that were read as the site once normalised,
    `at` the op where the first predicate failed, `before` and `after` digests of the form
    of `members` and of what stands there now, `call` the fused call, `runs` the symbols
    of all calls there, `trail` what each pass did, where the compilation was watched.
    """

    id: str
    function: str = "main"
    location: str = ""
    layer: str = ""
    ops: tuple[str, ...] = ()
    kind: str
    outcome: Outcome
    kernel: str | None = None
    source: Source | None = None
    intent: str | None = None
    intent_verdict: IntentVerdict = "absent"
    code: str | None = None
    predicate: str | None = None
    found: str | None = None
    wanted: str | None = None
    suggestion: str | None = None
    nearest: str | None = None
    semantics: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    placement: Placement | None = None
    bytes_saved: int | None = None
    launches_saved: int | None = None
    flops: int | None = None
    max_error: float | None = None
    pass_: str | None = None
    before: str | None = None
    after: str | None = None
    imported: tuple[Member, ...] = ()
    members: tuple[Member, ...] = ()
    at: Member | None = None
    call: Call | None = None
    runs: tuple[str, ...] = ()
    trail: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        for name in ("ops", "runs"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, kind in (("imported", Member), ("members", Member), ("trail", Step)):
            items = tuple(_made(kind, item) for item in getattr(self, name))
            object.__setattr__(self, name, items)
        for name, one in (("at", Member), ("call", Call)):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else _made(one, value))

    @property
    def fused(self) -> bool:
        """True when one kernel computes the whole site."""
        return self.outcome == "fused"

    def to_json(self) -> dict[str, JSON]:
        """The site as JSON data, every field present, in declared order."""
        return _record(self)

    @classmethod
    def from_json(cls, data: Mapping[str, JSON]) -> Site:
        """A site from valid JSON data; fields of a later release are left out."""
        site = _made(cls, data)
        if isinstance(site.max_error, str):
            return replace(site, max_error=float(site.max_error))
        return site


@dataclass(frozen=True)
class Document:
    """The decisions of one compilation, sites in program order."""

    model: str
    target: str
    device: str = ""
    sites: tuple[Site, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sites", tuple(self.sites))

    def to_json(self) -> dict[str, JSON]:
        """The document as JSON data that `validate` accepts."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "target": self.target,
            "device": self.device,
            "sites": [site.to_json() for site in self.sites],
        }

    @classmethod
    def from_json(cls, data: object) -> Document:
        """A document from JSON data; TesseraError TSR-R020 when it is malformed."""
        validate(data)
        valid = cast("Mapping[str, Any]", data)
        sites = cast("Iterable[Mapping[str, JSON]]", valid["sites"])
        return cls(
            model=valid["model"],
            target=valid["target"],
            device=valid["device"],
            sites=tuple(Site.from_json(site) for site in sites),
        )

    def dumps(self) -> str:
        """The document as the text of a decisions.json, one final newline."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
        return text + "\n"

    @classmethod
    def loads(cls, text: str | bytes) -> Document:
        """The document in the text of a decisions.json; TesseraError when malformed."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise TesseraError(
                BAD_DOCUMENT,
                f"the decisions document is not JSON: {error}",
                remedy="compile the model again",
            ) from None
        return cls.from_json(data)


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a decisions document."""
    file = resources.files("tessera").joinpath("decisions.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


def validate(data: object) -> None:
    """Check JSON data against the schema; TSR-R020 names the first fault."""
    error = _first_fault(data)
    if error is None:
        return
    raise TesseraError(
        BAD_DOCUMENT,
        f"the decisions document does not follow {SCHEMA}: {error}",
        remedy="compile the model again with this release",
    )


def _first_fault(data: object) -> str | None:
    from jsonschema import exceptions

    # jsonschema leaves the result's type open
    fault = cast("Any", exceptions).best_match(_validator().iter_errors(data))
    if fault is None:
        return None
    message = str(fault.message)
    shown = message if len(message) <= 200 else message[:200] + "…"
    return f"{fault.json_path}: {shown}"


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema())


def _record(item: DataclassInstance) -> dict[str, JSON]:
    """A dataclass as JSON data; a name that Python reserves loses its underscore."""
    return {f.name.rstrip("_"): _plain(getattr(item, f.name)) for f in fields(item)}


def _made(kind: type[T], data: object) -> T:
    """A dataclass from what `_record` gives; one that is made already stays."""
    if isinstance(data, kind):
        return data
    given = cast("Mapping[str, Any]", data)
    names = [f.name for f in fields(cast("type[DataclassInstance]", kind))]
    return kind(**{n: given[n.rstrip("_")] for n in names if n.rstrip("_") in given})


def _plain(value: object) -> JSON:
    """Tuples as lists; a float that JSON cannot hold as its name."""
    if is_dataclass(value) and not isinstance(value, type):
        return _record(value)
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value)
        return {key: _plain(item) for key, item in items.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    return cast("JSON", value)
