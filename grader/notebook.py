"""The check of a notebook's cell, as `kernelmark check` checks a file: `%load_ext grader.notebook`, then `%%kernelmark
silu`.

The check runs in a process of its own, so that the notebook's imports and settings do not affect it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from grader import home, temporary
from grader.errors import UserError

COLUMNS = "100"


def load_ipython_extension(shell: Any) -> None:
    """Add the magic `%%kernelmark NAME [--save] [options of kernelmark check]`; `%load_ext` calls this."""
    shell.register_magic_function(_magic, "cell", "kernelmark")


def check(name: str, text: str, *options: str) -> bool:
    """Check a text as the file of the assignment `name`, print the check's output, and return whether it is right.

    `options` are options of `kernelmark check`, such as "--report".
    """
    file = f"{name}.py"
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    try:
        course = home.find_here()
    except UserError as error:
        print(f"kernelmark: {error}")
        return False
    # The cell's file lies in no course.
    named = [] if course.shipped else ["--course", str(course.file)]
    with temporary.folder("cell") as folder:
        (folder / file).write_text(text, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, "-P", "-m", "grader", "check", file, "--only", name, *named, *options], cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": COLUMNS, "NO_COLOR": "1"})
    # The command that repeats the check names the temporary file, which is gone: name the cell's magic in its place.
    output = result.stdout.replace(f": kernelmark check {file} ", f": %%kernelmark {name} ")
    print(output.replace(f" {shlex.join(named)}", "") if named else output, end="")
    return result.returncode == 0


def _magic(line: str, cell: str) -> None:
    name, *options = shlex.split(line) or [""]
    if not name.isidentifier():
        print("kernelmark: no assignment named; write %%kernelmark NAME, as in %%kernelmark silu")
        return
    if "--save" in options:
        options.remove("--save")
        Path(f"{name}.py").write_text(cell, encoding="utf-8")
        print(f"Saved as {name}.py.")
    # An empty line replaces the magic, so that line numbers fit the cell.
    check(name, f"\n{cell}", *options)
