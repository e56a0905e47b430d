"""What Python itself reports of a submission: processes begun, memory opened, frames and code reached into, text run.

Audit events (PEP 578) are raised below every name by which a thing can be reached, and a hook cannot be taken out
again. What the hook reports to lives in the student's process all the same.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# Python's own library is looked through: subprocess forks for whoever called it.
_LIBRARY = f"{Path(os.__file__).parent}{os.sep}"
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_RECORDED = frozenset({
    "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system", "subprocess.Popen", "pty.spawn", "mmap.__new__",
    "pickle.find_class", "socket.__new__", "socket.connect", "socket.sendmsg", "socket.sendto", "open",
})  # fmt: skip
_REFUSED = frozenset({
    "code.__new__", "function.__new__", "compile", "exec", "marshal.loads", "object.__getattr__", "object.__setattr__",
    "sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile",
    "gc.get_objects", "gc.get_referrers", "gc.get_referents",
})  # fmt: skip
# Modules of Python's library that reach for frames and run text of their own for honest callers: dataclasses compile,
# namedtuple asks for a frame. The others, timeit or string.Formatter, do so for the caller.
_HONEST = frozenset(_LIBRARY + name for name in (
    "dataclasses.py", "collections/__init__.py", "enum.py", "abc.py", "types.py", "typing.py", "logging/__init__.py",
    "traceback.py", "linecache.py", "warnings.py", "functools.py", "contextlib.py", "threading.py", "inspect.py",
    "unittest/case.py", "ast.py", "re/__init__.py", "weakref.py", "copyreg.py",
))  # fmt: skip
# Honest but for this: they evaluate the text of an annotation. Compiled it is by Optional["Tensor"] too.
_EVALUATING = frozenset({f"{_LIBRARY}typing.py", f"{_LIBRARY}inspect.py", f"{_LIBRARY}functools.py"})
_NOBODY: frozenset[str] = frozenset()
_ATTRIBUTES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "__code__", "gi_code", "f_code"})
_PATHS = ("/proc/", "/dev/")
_HARMLESS = frozenset({"/dev/null", "/dev/urandom", "/dev/random", "/proc/cpuinfo", "/proc/meminfo"})

_watched: tuple[str, Callable[[str, int], None]] | None = None
_installed = False
_asking = threading.local()


def watch(file: str, seen: Callable[[str, int], None]) -> None:
    """Calls `seen(what, line)` for what code of `file` does from now on, in any thread; replaces an earlier watch.

    What reaches into Python's insides, or runs text, raises PermissionError there.
    """
    global _watched, _installed
    _watched = (file, seen)
    if not _installed:
        _installed = True
        sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    recorded = event in _RECORDED or event.startswith("ctypes.")
    if not recorded and event not in _REFUSED:
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
        # The body of a module that is imported runs by this event too.
        if event == "exec" and not _is_text(args[0]):
            return
        honest = _NOBODY if recorded else _HONEST - _EVALUATING if event == "exec" else _HONEST
        line = _line(sys._getframe(1), file, honest)
        if line and event == "open":
            what = _opened(args[0])
        if not line or not what:
            return
        seen(what, line)
    finally:
        _asking.now = False
    if not recorded:
        # From a frame the record itself could be reached, and be cleared of this.
        raise PermissionError(f"{what} reaches into Python's insides; a submission may not")


def _line(frame: FrameType | None, file: str, honest: frozenset[str]) -> int:
    """The line of `file` that something happens on behalf of, through Python's library but for its `honest` modules."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name == file:
            return frame.f_lineno
        if not _is_text(frame.f_code) and (name in honest or not _in_library(name)):
            return 0
        frame = frame.f_back
    return 0


def _is_text(code: CodeType) -> bool:
    """Whether code was compiled from no file: "<string>", "<timeit-src>"."""
    name = code.co_filename
    return name.startswith("<") and not name.startswith("<frozen ")


def _in_library(name: str) -> bool:
    if name.startswith("<frozen "):
        return not name.startswith("<frozen importlib")
    return name.startswith(_LIBRARY) and not any(part in name for part in _PACKAGES)


def _opened(path: object) -> str:
    """What to report of an opened path: "" unless it shows memory or a device, or is a descriptor already open."""
    if isinstance(path, int):
        return "open a descriptor"
    if not isinstance(path, str | bytes):
        return ""
    real = os.path.realpath(os.fsdecode(path))
    return f"open {real}" if real.startswith(_PATHS) and real not in _HARMLESS else ""
