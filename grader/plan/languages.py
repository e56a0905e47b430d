"""Where front ends lie: a folder each in `grader/frontends`, or in a folder that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

ELSEWHERE = "KERNELMARK_FRONT_ENDS"
"""Of the environment: more folders with front ends, as in PATH. Their code runs with the grader's own rights."""


def homes() -> list[str]:
    """The folders whose folders are front ends; the grader's own is the first."""
    others = filter(None, os.environ.get(ELSEWHERE, "").split(os.pathsep))
    return [str(Path(__file__).resolve().parents[1] / "frontends"), *(str(Path(one).resolve()) for one in others)]


def problem() -> str:
    """What is wrong with the folders that the environment names, in one line; "" if nothing is."""
    found: dict[str, str] = {}
    for home in homes():
        if not Path(home).is_dir():
            return f"{ELSEWHERE}: {home}: no such folder; a folder of languages expected"
        for path in sorted(Path(home).glob("*/__init__.py")):
            if found.setdefault(path.parent.name, home) != home:
                return (f"{ELSEWHERE}: {path.parent}: a language named {path.parent.name} is also in "
                        f"{found[path.parent.name]}; rename one of the two folders")
    return ""


def names() -> list[str]:
    """The front ends that there are, in order. None is imported."""
    return sorted({path.parent.name for home in homes() for path in Path(home).glob("*/__init__.py")})
