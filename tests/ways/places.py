"""Clones, and environments whose packages are hard links to those here, so that nothing is downloaded."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from grader.home import ROOT
from tests.kits import make_environment

SECONDS = 240
# Files of a checkout, without those that work in it makes.
PARTS = ("assignments", "calibration", "docs", "examples", "grader", "reference", "student_kit", "student_template")
# pip finds all that it needs here, and no setting of the machine's or of who runs the tests.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "",
           "PIP_CACHE_DIR": "off"}


def clone(folder: Path) -> Path:
    """A copy of this checkout as `git clone` makes one."""
    folder.mkdir(parents=True)
    for path in (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"):
        shutil.copy(path, folder)
    for name in PARTS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def environment(folder: Path, *options: str) -> Path:
    """Make an environment with all that kernelmark needs, and return its folder of programs."""
    make_environment(folder, *options)
    return folder / "bin"


def python(path: Path) -> Path:
    """A program that is Python, but that its `-m venv FOLDER` makes an environment with all that kernelmark needs."""
    here = shlex.quote(sys.executable)
    program = "import pathlib, sys; from tests.ways import places; places.environment(pathlib.Path(sys.argv[1]))"
    path.write_text(f"""#!/bin/sh
[ "$1 $2" = "-m venv" ] || exec {here} "$@"
PYTHONPATH={shlex.quote(str(ROOT))} exec {here} -c {shlex.quote(program)} "$3"
""")
    path.chmod(0o755)
    return path


def say(*words: str | Path, cwd: Path, status: int = 0, seconds: float = SECONDS,
        more: Mapping[str, str] = MappingProxyType({})) -> str:
    """The output of a command, in the surroundings of somebody without settings of their own for pip or Python."""
    result = subprocess.run(words, cwd=cwd, env=bare() | OFFLINE | dict(more), text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False, timeout=seconds)
    assert result.returncode == status, result.stdout
    return result.stdout


def bare() -> dict[str, str]:
    """The variables of the environment but for settings of pip, Python, uv, make and pytest."""
    settings = ("PIP_", "PYTHON", "UV_", "MAKE", "MFLAGS", "COLUMNS", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(settings)}
