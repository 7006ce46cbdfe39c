"""Pages that are run: what a page shows is what its code prints.

A fence tagged `python` runs, all of a page in one session; what it prints is the fence
that follows it directly, tagged `text`, `mlir` or `json`. In a `console` fence each line
that begins with `$ ` runs in a shell and its output follows. A fence with `file=PATH` in
its tag quotes that file of the repository; `file=PATH:NAME`, the statement that defines
NAME there. Fences with any other tag are left alone. Code and commands of one page share
one working folder.
"""

import ast
import io
import os
import re
import subprocess
import sys
from code import InteractiveInterpreter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType

from tests.support.paths import REPOSITORY

FENCE = re.compile(r"^```(?P<tag>[^\n`]*)\n(?P<body>.*?)^```$", re.M | re.S)
OUTPUTS = frozenset({"text", "mlir", "json"})
PROMPT = "$ "


@dataclass(frozen=True)
class Part:
    """Prose (no tag) or one fence of a page."""

    body: str
    tag: str | None = None

    @property
    def language(self) -> str:
        return (self.tag or "").split(" ")[0]

    @property
    def file(self) -> str:
        """The file that a fence quotes; most quote none."""
        named = re.search(r"\bfile=(\S+)", self.tag or "")
        return named[1] if named else ""

    def __str__(self) -> str:
        return self.body if self.tag is None else f"```{self.tag}\n{self.body}```"


class Session(InteractiveInterpreter):
    """Runs the Python of one page; an exception is the test's own."""

    def __init__(self, name: str) -> None:
        super().__init__({"__name__": Path(name).stem})
        self.filename = f"{Path(name).stem}.py"
        self.lines = 0

    def run(self, body: str) -> str:
        """What a block prints. Lines count as in one file of all blocks, in order."""
        out = io.StringIO()
        with redirect_stdout(out):
            waits = self.runsource("\n" * self.lines + body, self.filename, "exec")
        assert not waits, f"an unfinished block:\n{body}"
        self.lines += body.count("\n") + 1
        return out.getvalue()

    def showtraceback(self) -> None:
        raise

    def showsyntaxerror(self, *args: object, **kwargs: object) -> None:
        raise

    def runcode(self, code: CodeType) -> None:
        sys.argv, before = [self.filename], sys.argv
        try:
            super().runcode(code)
        finally:
            sys.argv = before


def shell(command: str) -> str:
    """What a command prints, errors included; it must succeed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {"PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={**os.environ, **settings, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, f"$ {command}\n{run.stdout}exit code {run.returncode}"
    return run.stdout


def quoted(reference: str) -> str:
    """The text that `PATH` or `PATH:NAME` stands for."""
    path, _, name = reference.partition(":")
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    if not name:
        return text
    for node in ast.parse(text).body:
        match node:
            case ast.Assign(targets=[ast.Name(found)]) if found == name:
                break
            case ast.AnnAssign(ast.Name(found)) if found == name:
                break
            case ast.FunctionDef(found) | ast.ClassDef(found) if found == name:
                break
            case _:
                pass
    else:
        raise LookupError(f"{path} defines no {name}")
    return "".join(text.splitlines(keepends=True)[node.lineno - 1 : node.end_lineno])


def parts(text: str) -> Iterator[Part]:
    """A page's prose and fences, in order."""
    end = 0
    for fence in FENCE.finditer(text):
        yield Part(text[end : fence.start()])
        yield Part(fence["body"], fence["tag"])
        end = fence.end()
    yield Part(text[end:])


def rendered(page: Path) -> str:
    """The page with every output as it is now; the working folder is the current one."""
    session = Session(page.name)
    made: list[Part] = []
    due: str | None = None  # what the last block printed, until its fence is met
    for part in parts(page.read_text(encoding="utf-8")):
        if due is not None and part.tag is None and not part.body.strip():
            made.append(part)
        elif due is not None and part.language in OUTPUTS and not part.file:
            made.append(replace(part, body=due))
            due = None
        else:
            if due:
                made += [Part("\n\n"), Part(due, "text")]
            due = None
            if part.file:
                made.append(replace(part, body=quoted(part.file)))
                continue
            made.append(_shown(part))
            if part.language == "python":
                due = _ended(session.run(part.body))
    return "".join(map(str, made))


def _shown(part: Part) -> Part:
    if part.language != "console":
        return part
    lines = [line for line in part.body.splitlines() if line.startswith(PROMPT)]
    shown = [
        f"{line}\n{_ended(shell(line.removeprefix(PROMPT)))}".rstrip("\n")
        for line in lines
    ]
    return replace(part, body="\n".join(shown) + "\n")


def _ended(text: str) -> str:
    """A text without blanks at the ends of its lines, with one newline at its end."""
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)
