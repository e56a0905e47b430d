"""Signals that end a command: Ctrl-C, SIGTERM, and a terminal that closes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

_SOON = 0.01
"""Seconds between checks whether an import has ended."""


def ending_signals() -> list[signal.Signals]:
    """Return the signals that end a command, except those that are ignored (nohup, a script's `&`)."""
    every = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    return [number for number in every if signal.getsignal(number) is not signal.SIG_IGN]


def on_interruption(action: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """Take an action on the signals that end a command."""
    for number in ending_signals():
        signal.signal(number, action)


class Interruption:
    """A handler that raises KeyboardInterrupt and remembers it. The first interruption waits until an import ends: in
    the middle of torch's import, it would make C++ abort the process, or leave NumPy half imported."""

    seen = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal, or the timer that follows it. Raises KeyboardInterrupt."""
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
