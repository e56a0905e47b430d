"""The versions and the code in which two processes must agree before one may grade for the other."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path

from grader import home
from grader.plan import language_folders

GRADER, ASSIGNMENTS = "grader", "assignments"
# Sentences to show in place of hashes that differ.
_REMEDIES = {GRADER: "its grader is not this one, so install the same there",
             ASSIGNMENTS: "its assignments are not this course's, so start it in a copy of the course's folder"}


def own() -> dict[str, str]:
    """Return the versions of this process, without build suffixes; sha256 of the grader's code, which includes front
    ends in other folders; and sha256 of the assignments."""
    packages = ("kernelmark", "torch", "triton", "numpy")
    versions = {name: metadata.version(name).partition("+")[0] for name in packages}
    return {**versions, "python": platform.python_version(),
            GRADER: _digest(home.PACKAGE, *map(Path, language_folders.homes()[1:])),
            ASSIGNMENTS: _digest(home.root() / "assignments")}


def _digest(*folders: Path) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if home.IN_WHEEL not in path.parents and path.suffix in (".py", ".toml", ".j2") and path.is_file():
                name = f"{folder.name}/{path.relative_to(folder)}\0"
                digest.update(name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def unlike(theirs: dict[str, str]) -> str:
    """Return in a sentence how another process's versions differ from this process's; "" if that process may grade for
    it."""
    return "; ".join(_REMEDIES.get(name, f"{name} {theirs.get(name, 'unknown')}, expected {value}")
                     for name, value in own().items() if theirs.get(name) != value)
