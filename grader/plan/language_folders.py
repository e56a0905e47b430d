"""The places of front ends. Each is a folder in `grader/languages`, or in a folder that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

from grader.plan.wire import Part

VARIABLE = "KERNELMARK_FRONT_ENDS"
"""The variable that names more folders with front ends, as PATH does. Their code runs with the grader's own rights."""


def homes() -> list[str]:
    """Return the folders that hold front ends; the grader's own comes first."""
    others = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    return [str(Path(__file__).resolve().parents[1] / "languages"), *(str(Path(home).resolve()) for home in others)]


def problem() -> str:
    """Return what is wrong with the folders that the environment names, in one line; "" if nothing is."""
    home_of: dict[str, str] = {}
    for home in homes():
        if not Path(home).is_dir():
            return f"{VARIABLE}: {home}: no such folder; a folder of languages expected"
        for path in sorted(Path(home).glob("*/__init__.py")):
            if home_of.setdefault(path.parent.name, home) != home:
                return (f"{VARIABLE}: {path.parent}: a language named {path.parent.name} is also in "
                        f"{home_of[path.parent.name]}; rename one of the two folders")
    return ""


def parts(*which: Part) -> list[str]:
    """Return these parts of all front ends, as `<front end>/<part>`, in order. Imports no front end."""
    folders = (path.parent for home in homes() for path in Path(home).glob("*/confined/*/main.py"))
    return sorted({f"{path.parents[1].name}/{path.name}" for path in folders if path.name in which})


def names() -> list[str]:
    """Return the names of all front ends, in order. Imports no front end."""
    return sorted({path.parent.name for home in homes() for path in Path(home).glob("*/__init__.py")})
