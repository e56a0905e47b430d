"""The command, submissions handed in to it, and the results it leaves."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

from grader.cli import app
from grader.console import console, errors
from grader.model.catalogue import ROOT
from grader.model.result import Result

SILU = (ROOT / "reference" / "silu.py").read_text()
SECONDS = 120
# Verbs that start no process run in this one: most of their time would go into imports.
HERE = frozenset({"apply", "assignments", "diff", "explain-grade", "export", "intake", "rescore"})


def kernelmark(
    *arguments: str | Path, cwd: Path = ROOT, environment: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    """What the command says and returns."""
    if arguments[0] in HERE:
        return _here([str(one) for one in arguments], cwd, environment)
    if arguments[0] in ("grade", "regrade") and "--jobs" not in arguments:
        # A lane imports torch twice, and other tests keep the other cores busy.
        arguments = (*arguments, "--jobs", "1")
    # As the installed command: without the working directory on the path (-P), and from wherever it is run.
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, "-P", "-m", "grader.cli", *map(str, arguments)], capture_output=True, text=True,
        timeout=SECONDS, cwd=cwd, check=False,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", **environment})


def _here(arguments: list[str], cwd: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    out, err, code = io.StringIO(), io.StringIO(), 0
    # pytest's own width is known to consoles since they were made.
    with (contextlib.chdir(cwd), mock.patch.dict(os.environ, environment), mock.patch.object(console, "_width", 200),
          mock.patch.object(errors, "_width", 200), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)):
        try:
            app(arguments, prog_name="kernelmark")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def hand_in(root: Path, student: str, content: str | bytes = SILU) -> Path:
    folder = root / student
    folder.mkdir(parents=True)
    (folder / "silu.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def load(out: Path) -> dict[str, Any]:
    """Verdicts of silu by student, read from disk."""
    results = [Result.model_validate_json(path.read_bytes()) for path in out.glob("*/result.json")]
    return {result.student: result.assignments["silu"] for result in results}
