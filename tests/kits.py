"""A kit that is set up without a download: in an environment that has what is installed here."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

SECONDS = 120


def environment_in(folder: Path) -> dict[str, str]:
    """Makes the environment `folder`, and returns the variables for commands that install into it: pip fetches nothing,
    since all that is installed here, but for kernelmark, is installed there, too: as files of its own, where users have
    them, and not by a path file to here."""
    make_environment(folder)
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COLUMNS")} | {
        "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}


def make_environment(folder: Path, *options: str) -> None:
    """Make an environment that holds all that is installed here, but for kernelmark."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", *options, folder], check=True, timeout=SECONDS)
    (packages,) = folder.glob("lib/python*/site-packages")
    link_packages(packages)


def link_packages(packages: Path) -> None:
    """Put all that is installed here, but for kernelmark, into a folder of packages."""
    packages.mkdir(parents=True, exist_ok=True)
    for source in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        # Hard links take a second or two; another file system has none.
        for how in ("--link", "--reflink=auto"):
            result = subprocess.run(["cp", "--archive", how, f"{source}/.", packages],
                                    stderr=subprocess.DEVNULL, check=False, timeout=SECONDS)
            if result.returncode == 0:
                break
        assert result.returncode == 0, f"{source} could not be copied to {packages}"
    for own in ("__editable__*kernelmark*", "kernelmark-*.dist-info"):
        for path in packages.glob(own):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def program(path: Path, text: str) -> None:
    """A program that stands for one that fetches packages."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
