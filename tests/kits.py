"""A kit that is set up without a download: in an environment that finds what is installed here."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.command import SECONDS


def environment_in(folder: Path) -> dict[str, str]:
    """Makes the environment `folder`, and returns the variables for commands that install into it: pip, which it finds
    here like all that a kit depends on, fetches nothing."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=SECONDS)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COLUMNS")} | {
        "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}


def program(path: Path, text: str) -> None:
    """A program that stands for one that fetches packages."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
