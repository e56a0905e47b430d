"""What a kernel can be told it did wrong, and where in the student's file it happened."""

from __future__ import annotations

import sys
from types import TracebackType


class KernelFault(Exception):
    """A fault of a kernel or of its launch; the message is written for the student."""


class TooManyPrograms(KernelFault):
    """The launch starts more program instances than the interpreter may run."""


class OutOfBounds(KernelFault):
    """A load, store or atomic outside the tensors that were passed to the launch."""


class Unsupported(KernelFault):
    """Something the compiler refuses, or that cannot be run without a GPU."""


class DeviceAssertion(KernelFault):
    """A `tl.device_assert`, `tl.static_assert`, `tl.assume` or `assert` in a kernel did not hold."""


class IntegerOverflow(KernelFault):
    """Signed integer arithmetic of 32 bits or fewer wrapped around, and the result became an offset."""


def student_line(error: BaseException, file: str) -> int:
    """The line of `file` nearest to where `error` was raised; 0 where no frame lies in it."""
    found = 0
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and not found and id(cause) not in seen:
        seen.add(id(cause))
        found = _innermost(cause.__traceback__, file)
        cause = cause.__cause__ or cause.__context__
    if not found and isinstance(error, SyntaxError) and error.filename == file:
        found = error.lineno or 0
    return found


def _innermost(traceback: TracebackType | None, file: str) -> int:
    found = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            found = traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def running_line(file: str) -> int:
    """The line of `file` that is being run, seen from the innermost frame of it; 0 where none is."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0
