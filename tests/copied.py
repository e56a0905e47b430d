"""A copy of the grader with a table that has one more row, for tests that a row is all that it takes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from grader.home import ROOT


def copy(to: Path, *rooms: str) -> Path:
    """Copies `grader` and other folders of the repository."""
    for room in ("grader", *rooms):
        # With what Python has compiled, which takes seconds.
        shutil.copytree(ROOT / room, to / room)
    return to


def changed(copied: Path, file: str, old: str, new: str) -> None:
    """Replaces what stands once in a file of the copy."""
    path = copied / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(copied: Path, program: str, *words: str) -> str:
    """What a program prints that imports the copy, and tests from here."""
    result = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=copied, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (copied, ROOT)))})
    assert result.returncode == 0, result.stderr
    return result.stdout
