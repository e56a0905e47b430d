"""What of this machine a zygote's programs and its workers have to see: everything else can stay out of their sight."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path

from grader.plan import languages

# Libraries, compilers and their tables, on the usual distributions.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf",
           "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/opt/cuda", "/nix/store")  # fmt: skip

_ROOT = Path(__file__).resolve().parents[3]


def import_path() -> list[str]:
    """`sys.path` of this process in absolute words, for a zygote."""
    return [str(Path(entry).absolute()) for entry in sys.path if entry]


@cache
def readable() -> tuple[str, ...]:
    """Paths that a worker has to read: Python, its packages, the system's libraries. Nothing of the course."""
    found = [path for path in _SYSTEM if Path(path).exists()]
    found += [sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(sys.executable).resolve().parent.parent)]
    # Packages may have been installed into other places (PYTHONPATH); other folders on the path may hold anything.
    found += [entry for entry in import_path() if any(Path(entry).glob("*.dist-info"))]
    return tuple(sorted({path for path in found if Path(path).exists() and path != "/"}))


def own_code() -> tuple[str, ...]:
    """What the zygote reads besides: this package, and front ends elsewhere. Its workers have them in memory."""
    return str(_ROOT / "grader"), *languages.homes()[1:]


def course_file() -> str:
    """A file of the course, readable by all, that no submission has any business with."""
    return str(_ROOT / "course.toml")


def needed() -> list[str]:
    """Some files that every honest submission has to be able to read."""
    names = ["json", "torch", "triton", "numpy"]
    found = [importlib.util.find_spec(name) for name in names]
    return [spec.origin for spec in found if spec is not None and spec.origin is not None]


def open_to_others(paths: tuple[str, ...]) -> str:
    """The first path that another user could not reach, or ""; symbolic links are followed."""
    for path in paths:
        real = Path(path).resolve()
        for part in (real, *real.parents):
            wanted = 0o5 if part.is_dir() else 0o4
            # A folder above has only to be passed.
            if part != real:
                wanted = 0o1
            if part.stat().st_mode & wanted != wanted:
                return str(part)
    return ""
