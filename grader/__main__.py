"""The process around a command: interruptions, closed pipes, terminals and files that fail end in a line at most."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_INTERRUPTED = 128 + signal.SIGINT
_SOON = 0.01
"""Seconds between checks whether an import has ended."""


def main() -> None:
    """Run the command that the arguments name."""
    obeyed = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # not with nohup, or a script's `&`
    if obeyed:
        # Until a command begins, an interruption ends the process at once: in the middle of an import, Python would
        # print where it was.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # The command's caller closed the stream.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    # Late: these take a quarter of a second.
    from grader.commands import cli
    from grader.console import INFRASTRUCTURE_ERROR, errors, failed, print_anywhere

    print_anywhere()
    sys.unraisablehook = _unraisable
    interruption = _CtrlC()
    status: object = 0
    try:
        if obeyed:
            signal.signal(signal.SIGINT, interruption)
        try:
            cli.app(prog_name="kernelmark")
        finally:
            # Write here, so that a full disk is reported in one line.
            sys.stdout.flush()
    except SystemExit as end:
        status = end.code
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except Exception as error:
        if interruption.seen:
            # A library turned KeyboardInterrupt into another exception.
            status = _INTERRUPTED
        elif isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is None):
            # A package failed to import, or a library that it loads.
            errors.print(f"kernelmark: {type(error).__name__}: {error}; run kernelmark doctor", markup=False)
            status = INFRASTRUCTURE_ERROR
        elif isinstance(error, OSError):
            errors.print(f"kernelmark: {failed(error)}", markup=False)
            status = INFRASTRUCTURE_ERROR
            # Python flushes this buffer at its own end, where the write would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        else:
            raise
    finally:
        if obeyed:
            # Only Python's own end is left, which an interruption may cut short.
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(status)  # type: ignore[arg-type]


class _CtrlC:
    """A handler that raises KeyboardInterrupt, as Python's does, and remembers it. The first interruption waits until
    an import ends: in the middle of torch's import, it would make C++ abort the process."""

    seen = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        waits = number == signal.SIGALRM or not self.seen
        self.seen = True
        if waits and _imports(frame):
            signal.signal(signal.SIGALRM, self)
            signal.setitimer(signal.ITIMER_REAL, _SOON)
        else:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt


def _imports(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def _unraisable(about: sys.UnraisableHookArgs) -> None:
    """End the process at an interruption inside a callback; Python would print the interruption and continue."""
    if issubclass(about.exc_type, KeyboardInterrupt):
        os._exit(_INTERRUPTED)
    sys.__unraisablehook__(about)


if __name__ == "__main__":
    main()
