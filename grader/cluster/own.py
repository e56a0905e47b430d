"""What two processes must have in common for one to grade for the other."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata

from grader.model.catalogue import ROOT


def own() -> dict[str, str]:
    """Versions of this process, without what a GPU's build adds to them, and a sha256 of the grader's code and the
    assignments."""
    digest = hashlib.sha256()
    for folder in ("grader", "assignments"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".toml", ".j2") and path.is_file():
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    packages = ("kernelmark", "torch", "triton", "numpy")
    versions = {name: metadata.version(name).partition("+")[0] for name in packages}
    return {**versions, "python": platform.python_version(), "grader and assignments": digest.hexdigest()[:12]}


def unlike(theirs: dict[str, str]) -> str:
    """What another process has that is not this one's, in a sentence; "" if it may grade for this one."""
    return "; ".join(f"{name} {theirs.get(name, 'unknown')}, {value} expected"
                     for name, value in own().items() if theirs.get(name) != value)
