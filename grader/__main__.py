"""The process around a command: it reports interruptions, closed pipes and failing files in one line, or in none."""

from __future__ import annotations

import os
import signal
import sys

from grader.interruption import Interruption, on_interruption

_INTERRUPTED_STATUS = 128 + signal.SIGINT


def main() -> None:
    """Run the command that the arguments name."""
    # Until a command begins, an interruption ends the process at once: in the middle of an import, Python would print
    # where it was.
    on_interruption(signal.SIG_DFL)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # The command's caller closed the stream.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    # Late: these take a quarter of a second.
    from grader import home
    from grader.commands import cli
    from grader.console import INFRASTRUCTURE_ERROR, complain, failed, print_anywhere

    print_anywhere()
    sys.unraisablehook = _unraisable
    interruption = Interruption()
    status: object = 0
    try:
        on_interruption(interruption)
        try:
            cli.app(prog_name="kernelmark")
        finally:
            # Write here, so that a full disk is reported in one line.
            sys.stdout.flush()
    except SystemExit as end:
        status = end.code
    except KeyboardInterrupt:
        status = _INTERRUPTED_STATUS
    except Exception as error:
        if interruption.seen:
            # A library turned KeyboardInterrupt into another exception.
            status = _INTERRUPTED_STATUS
        elif isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is None):
            # A package failed to import, or a library that it loads.
            # Doctor itself needs packages.
            remedy = home.INSTALL if "doctor" in sys.argv else "kernelmark doctor"
            complain(f"{type(error).__name__}: {error}; run {remedy}")
            status = INFRASTRUCTURE_ERROR
        elif isinstance(error, OSError):
            complain(failed(error))
            status = INFRASTRUCTURE_ERROR
            # Python flushes this buffer at its own end, where the write would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        else:
            raise
    finally:
        # Python's own shutdown follows, which an interruption may cut short.
        signal.setitimer(signal.ITIMER_REAL, 0)
        on_interruption(signal.SIG_DFL)
    sys.exit(status)  # type: ignore[arg-type]


def _unraisable(failure: sys.UnraisableHookArgs) -> None:
    """End the process at an interruption inside a callback; Python would print the interruption and continue."""
    if issubclass(failure.exc_type, KeyboardInterrupt):
        os._exit(_INTERRUPTED_STATUS)
    sys.__unraisablehook__(failure)


if __name__ == "__main__":
    main()
