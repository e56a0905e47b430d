"""Failures of Triton's front end as messages to the judge: its reason and the line in the student's file."""

from __future__ import annotations

import linecache
import re
import textwrap
from dataclasses import dataclass

from grader.host import failures
from grader.host.failures import MESSAGE, causes, message, text
from grader.host.record import Session
from grader.languages.triton.confined.api import CompilationError
from grader.plan.messages import MOST_CONSTANTS, Failed

_UNDEFINED = re.compile(r"(?:.*NameError\(\W*)?(\w+) is not defined")


@dataclass(frozen=True)
class NotLowered:
    """A kernel that Triton's front end fails on with `error`. `constants` are its compile-time constants: values as
    code, by name. `message` is the reason that MLIR writes to standard error, "" if it writes none; `line` is the line
    of the student's file in it, else 0."""

    error: BaseException
    constants: dict[str, str]
    message: str = ""
    line: int = 0


def failed(session: Session, error: BaseException, lowered: NotLowered | None, seq: int) -> Failed:
    """Return the message to the judge for an exception of the graded function. `lowered` is the last kernel that
    Triton's front end failed on."""
    failure = failures.failed(session, error, seq)
    lowered = lowered if lowered is not None and any(cause is lowered.error for cause in causes(error)) else None
    if failure.failure != "exception" or not (isinstance(error, CompilationError) or lowered):
        return failure
    inner, where = _innermost(session, error)
    # Without Triton's excerpt of the source, which the traceback has, too.
    sentence = text(
        inner.error_message or failure.message, MESSAGE) if isinstance(inner, CompilationError) else message(inner)
    constants: dict[str, str] = {}
    if lowered is not None:
        where, sentence = lowered.line or where, text(lowered.message, MESSAGE) or sentence
        constants = dict(list(lowered.constants.items())[:MOST_CONSTANTS])
    return failure.model_copy(update={
        "failure": "compile_error", "message": sentence, "line": where or failure.line, "constants": constants})


def _innermost(session: Session, error: BaseException) -> tuple[BaseException, int]:
    """Return the error that Triton raised first, and its line in the student's file: Triton wraps an error once for
    each function of a kernel."""
    inner, line = error, 0
    for cause in causes(error):
        if isinstance(cause, CompilationError):
            line = _line_of_node(session, cause) or line
            if cause.error_message:
                inner = cause
    return inner, line


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
            if [line.strip() for line in there] == [line.strip() for line in wanted]:
                return index + at
    return 0


def undefined(error: BaseException) -> list[str]:
    """Return the names that are not defined, by a NameError of Python or by Triton's error about a kernel."""
    names = failures.undefined(error)
    for cause in causes(error):
        if isinstance(cause, CompilationError):
            names += _UNDEFINED.findall(cause.error_message or "")
    return names
