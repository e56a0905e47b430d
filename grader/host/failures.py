"""Exceptions of a submission as messages to the judge: short, with the line in the student's file."""

from __future__ import annotations

import dis
import linecache
import math
import re
import traceback
from types import TracebackType
from typing import Any

import torch

from grader.host.record import AutogradError, Session, TimeUpError, TooLargeError, UnsupportedError
from grader.plan.messages import Failed

MESSAGE, TRACEBACK = 2000, 6000
_RAISE = dis.opmap["RAISE_VARARGS"]
_UNDEFINED = re.compile(r"(?:.*NameError\(\W*)?(\w+) is not defined")
_PATH = re.compile(r" \(/[^()]*\)$")
_LOOP = re.compile(r"\s*(while|for)\b")
# Exceptions may be chained without end.
_MOST_CAUSES = 50


def text(value: str, most: int) -> str:
    """Return a student's text, cut to `most` characters; what is not valid text is replaced."""
    value = value if len(value) <= most else f"{value[:most - 1]}…"
    return value.encode(errors="replace").decode()


def message(error: BaseException) -> str:
    """Return an exception as `ValueError: …`, even if its own `__str__` fails."""
    try:
        words = str(error)
    except BaseException:
        words = ""
    if isinstance(error, ImportError):
        # A student has no use for the module's path on this machine.
        words = _PATH.sub("", words)
    name = type.__getattribute__(type(error), "__name__")
    return text(f"{name}: {words}" if words else str(name), MESSAGE)


def lines_of(error: SyntaxError | BaseException) -> str:
    return "".join(traceback.format_exception_only(error)) if isinstance(error, SyntaxError) else ""


def line(session: Session, error: BaseException) -> int:
    """Return the line of the innermost frame in the student's file that the exception passed; 0 for none."""
    number = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == session.file:
            number = trace.tb_lineno or number
        trace = trace.tb_next
    return number


def traceback_of(session: Session, error: BaseException) -> str:
    """Return the frames from the student's file on, and the exception."""
    frames = []
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == session.file:
            code = trace.tb_frame.f_code
            frames.append(traceback.FrameSummary(session.file, trace.tb_lineno or 0, code.co_name, lookup_line=True))
        trace = trace.tb_next
    return text("".join(traceback.format_list(frames[-12:])) + message(error), TRACEBACK)


def origin(session: Session, error: BaseException) -> TracebackType | None:
    """Return the frame where an exception began, if that is in the student's file itself; else None."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace if trace is not None and trace.tb_frame.f_code.co_filename == session.file else None


def raised(session: Session, error: BaseException) -> bool:
    """Return whether a `raise` of the student's file began the exception, rather than code that the file calls."""
    trace = origin(session, error)
    return trace is not None and trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def failed(session: Session, error: BaseException, seq: int) -> Failed:
    """Return the message to the judge for an exception of the graded function."""
    kind: Any = "exception"
    where, sentence = line(session, error), message(error)
    if isinstance(error, NotImplementedError) and raised(session, error):
        kind = "not_attempted"
    elif isinstance(error, TimeUpError):
        kind, where, sentence = "time_out", _loop_around(session, where), str(error)
    elif isinstance(error, AutogradError):
        kind, where, sentence = "autograd", where or error.line, text(str(error), MESSAGE)
    elif isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        kind = "out_of_memory"
    elif isinstance(error, (UnsupportedError, TooLargeError)):
        kind = "unsupported" if isinstance(error, UnsupportedError) else error.what
        sentence = text(str(error), MESSAGE)
    return Failed(seq=seq, failure=kind, message=sentence, line=where, traceback=traceback_of(session, error))


def _loop_around(session: Session, line: int) -> int:
    """Return the line where the innermost loop around a line begins; the line itself if there is none."""
    lines = linecache.getlines(session.file)
    indent = math.inf
    for number in range(min(line, len(lines)), 0, -1):
        text = lines[number - 1]
        if text.strip() and (own := len(text) - len(text.lstrip())) < indent:
            if _LOOP.match(text):
                return number
            indent = own
    return line


def causes(error: BaseException) -> list[BaseException]:
    """Return an exception, the one that caused it, and so on."""
    exceptions = [error]
    while len(exceptions) < _MOST_CAUSES:
        cause = exceptions[-1].__cause__ or exceptions[-1].__context__
        if cause is None:
            break
        exceptions.append(cause)
    return exceptions


def undefined(error: BaseException) -> list[str]:
    """Return the names that are not defined, by NameErrors of Python."""
    names = []
    for cause in causes(error):
        if isinstance(cause, NameError):
            name = getattr(cause, "name", None) or _UNDEFINED.match(message(cause).removeprefix("NameError: "))
            names.append(name if isinstance(name, str) else name.group(1) if name else "")
    return [name for name in names if name]
