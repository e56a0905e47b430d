"""A thread's clock: it stands still while the thread's worker is ready to run, and other work has the processors.

Budgets are seconds of this clock: on a busy machine they buy the same work as on a quiet one.
"""

from __future__ import annotations

import threading
import time

_stood = threading.local()


def now() -> float:
    """Return the seconds of this thread's clock. Only differences have a meaning."""
    return time.monotonic() - getattr(_stood, "seconds", 0.0)


def stand(seconds: float) -> None:
    """Take seconds off this thread's clock."""
    _stood.seconds = getattr(_stood, "seconds", 0.0) + seconds
