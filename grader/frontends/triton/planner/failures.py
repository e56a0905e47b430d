"""Exceptions of a submission as messages to the judge: short, with the line in the student's file."""

from __future__ import annotations

import dis
import linecache
import math
import re
import textwrap
import traceback
from types import TracebackType
from typing import Any

import torch

from grader.frontends.triton.api import CompilationError
from grader.frontends.triton.planner.record import NotLowered, Session, TimeUpError, TooLargeError, UnsupportedError
from grader.plan.messages import MOST_CONSTANTS, Failed

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
        said = str(error)
    except BaseException:
        said = ""
    if isinstance(error, ImportError):
        # A student has no use for the module's path on this machine.
        said = _PATH.sub("", said)
    name = type.__getattribute__(type(error), "__name__")
    return text(f"{name}: {said}" if said else str(name), MESSAGE)


def lines_of(error: SyntaxError | BaseException) -> str:
    return "".join(traceback.format_exception_only(error)) if isinstance(error, SyntaxError) else ""


def line(session: Session, error: BaseException) -> int:
    """Return the line of the innermost frame in the student's file that the exception passed; 0 for none."""
    found = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == session.file:
            found = trace.tb_lineno or found
        trace = trace.tb_next
    return found


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


def failed(session: Session, error: BaseException, lowered: NotLowered | None, seq: int) -> Failed:
    """Return the message to the judge for an exception of the graded function. `lowered` is the last kernel that
    Triton's front end failed on."""
    kind: Any = "exception"
    where, said = line(session, error), message(error)
    if isinstance(error, NotImplementedError) and raised(session, error):
        kind = "not_attempted"
    elif isinstance(error, TimeUpError):
        kind, where, said = "time_out", _loop_around(session, where), str(error)
    elif isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        kind = "out_of_memory"
    elif isinstance(error, (UnsupportedError, TooLargeError)):
        kind = "unsupported" if isinstance(error, UnsupportedError) else error.what
        said = text(str(error), MESSAGE)
    lowered = lowered if lowered is not None and any(one is lowered.error for one in _causes(error)) else None
    constants: dict[str, str] = {}
    if (isinstance(error, CompilationError) or lowered) and kind == "exception":
        kind = "compile_error"
        inner, found = _innermost(session, error)
        where = found or where
        # Without Triton's excerpt of the source, which the traceback has, too.
        said = text(inner.error_message or said, MESSAGE) if isinstance(inner, CompilationError) else message(inner)
        if lowered is not None:
            where, said = lowered.line or where, text(lowered.message, MESSAGE) or said
            constants = dict(list(lowered.constants.items())[:MOST_CONSTANTS])
    return Failed(
        seq=seq, failure=kind, message=said, line=where, traceback=traceback_of(session, error), constants=constants)


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


def _causes(error: BaseException) -> list[BaseException]:
    found = [error]
    while len(found) < _MOST_CAUSES:
        cause = found[-1].__cause__ or found[-1].__context__
        if cause is None:
            break
        found.append(cause)
    return found


def _innermost(session: Session, error: BaseException) -> tuple[BaseException, int]:
    """Return the error that Triton raised first, and its line in the student's file: Triton wraps an error once for
    each function of a kernel."""
    said, found = error, 0
    for one in _causes(error):
        if isinstance(one, CompilationError):
            found = _line_of_node(session, one) or found
            if one.error_message:
                said = one
    return said, found


def _line_of_node(session: Session, error: CompilationError) -> int:
    """Return an error's line in the student's file: Triton counts from a kernel's `def`, in its dedented source."""
    first, *_ = (error.src or "").split("\n")
    at = getattr(error.node, "lineno", 0)
    if not first or not at:
        return 0
    lines = linecache.getlines(session.file)
    wanted = (error.src or "").rstrip().split("\n")
    for index, _ in enumerate(lines):
        if lines[index].strip() == first.strip():
            there = textwrap.dedent("".join(lines[index:index + len(wanted)])).rstrip().split("\n")
            if [one.strip() for one in there] == [one.strip() for one in wanted]:
                return index + at
    return 0


def undefined(error: BaseException) -> list[str]:
    """Return the names that are not defined, by a NameError of Python or by Triton's error about a kernel."""
    found = []
    for one in _causes(error):
        if isinstance(one, NameError):
            said = getattr(one, "name", None) or _UNDEFINED.match(message(one).removeprefix("NameError: "))
            found.append(said if isinstance(said, str) else said.group(1) if said else "")
        elif isinstance(one, CompilationError):
            found += _UNDEFINED.findall(one.error_message or "")
    return [name for name in found if name]
