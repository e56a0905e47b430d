"""What Python itself reports of a submission: processes begun, memory opened, frames and code reached into.

Audit events (PEP 578) are raised below every name by which a thing can be reached, and a hook cannot be taken out
again. What the hook reports to lives in the student's process all the same.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

# Python's own library is looked through: subprocess forks for whoever called it.
_LIBRARY = f"{Path(os.__file__).parent}{os.sep}"
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_ANYONE = frozenset({
    "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen", "pty.spawn", "mmap.__new__",
    "pickle.find_class", "socket.__new__", "open",
})  # fmt: skip
# Python's library does these for honest callers: dataclasses compile, namedtuple asks for a frame.
_STUDENT_ALONE = frozenset({
    "code.__new__", "function.__new__", "compile", "marshal.loads", "object.__getattr__", "object.__setattr__",
    "sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile",
    "gc.get_objects", "gc.get_referrers", "gc.get_referents",
})  # fmt: skip
_ATTRIBUTES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "__code__", "gi_code", "f_code"})
_PATHS = ("/proc/", "/dev/")
_HARMLESS = frozenset({"/dev/null", "/dev/urandom", "/dev/random", "/proc/cpuinfo", "/proc/meminfo"})

_watched: tuple[str, Callable[[str, int], None]] | None = None
_installed = False
_asking = threading.local()


def watch(file: str, seen: Callable[[str, int], None]) -> None:
    """Calls `seen(what, line)` for what code of `file` does from now on, in any thread; replaces an earlier watch.

    What reaches into Python's insides raises PermissionError there.
    """
    global _watched, _installed
    _watched = (file, seen)
    if not _installed:
        _installed = True
        sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    anyone = event in _ANYONE or event.startswith("ctypes.")
    if not anyone and event not in _STUDENT_ALONE:
        return
    what = event
    if event.startswith("object."):
        if args[1] not in _ATTRIBUTES:
            return
        what = f".{args[1]}"
    # Looking at frames raises events of its own.
    if _watched is None or getattr(_asking, "now", False):
        return
    _asking.now = True
    try:
        file, seen = _watched
        line = _line(sys._getframe(1), file, anyone)
        if line and event == "open":
            what = _opened(args[0])
        if not line or not what or (event == "compile" and args[1] == "<string>"):
            return
        seen(what, line)
    finally:
        _asking.now = False
    if not anyone:
        # From a frame the record itself could be reached, and be cleared of this.
        raise PermissionError(f"{what} reaches into Python's insides; a submission may not")


def _line(frame: FrameType | None, file: str, through: bool) -> int:
    while frame is not None:
        name = frame.f_code.co_filename
        if name == file:
            return frame.f_lineno
        if not through or not _in_library(name):
            return 0
        frame = frame.f_back
    return 0


def _in_library(name: str) -> bool:
    if name.startswith("<frozen "):
        return not name.startswith("<frozen importlib")
    return name.startswith(_LIBRARY) and not any(part in name for part in _PACKAGES)


def _opened(path: object) -> str:
    """What to report of an opened path: "" unless it shows memory or a device."""
    if not isinstance(path, str | bytes):
        return ""
    real = os.path.realpath(os.fsdecode(path))
    return f"open {real}" if real.startswith(_PATHS) and real not in _HARMLESS else ""
