"""The versions and code that two processes must share for one to grade for the other."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path

from grader import home
from grader.plan import languages


def own() -> dict[str, str]:
    """The versions of this process without their build suffixes, and a sha256 of the grader's code, of front ends
    elsewhere, and of the assignments."""
    digest = hashlib.sha256()
    for folder in (home.PACKAGE, home.root() / "assignments", *map(Path, languages.homes()[1:])):
        for path in sorted(folder.rglob("*")):
            if home.IN_WHEEL not in path.parents and path.suffix in (".py", ".toml", ".j2") and path.is_file():
                name = f"{folder.name}/{path.relative_to(folder)}\0"
                digest.update(name.encode() + hashlib.sha256(path.read_bytes()).digest())
    packages = ("kernelmark", "torch", "triton", "numpy")
    versions = {name: metadata.version(name).partition("+")[0] for name in packages}
    return {**versions, "python": platform.python_version(), "grader and assignments": digest.hexdigest()[:12]}


def unlike(theirs: dict[str, str]) -> str:
    """How another process's versions differ from this one's, in a sentence; "" if it may grade for this one."""
    return "; ".join(f"{name} {theirs.get(name, 'unknown')}, expected {value}"
                     for name, value in own().items() if theirs.get(name) != value)
