"""Failures of Numba's compiler as messages to the judge: one sentence, and the line in the student's file."""

from __future__ import annotations

import linecache
import re

from grader.host import failures
from grader.host.failures import MESSAGE, causes, text
from grader.host.record import Session
from grader.languages.numba.confined import api
from grader.languages.numba.confined.error_messages import line_and_sentence
from grader.plan.messages import Failed

_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")


def failed(session: Session, error: BaseException, seq: int) -> Failed:
    """Return the message to the judge for an exception of the graded function."""
    reply = failures.failed(session, error, seq)
    compiled = next((cause for cause in causes(error) if api.is_error(cause)), None)
    if reply.failure != "exception" or compiled is None:
        return reply
    where, sentence = line_and_sentence(str(compiled), session.file, linecache.getlines(session.file))
    return reply.model_copy(update={
        "failure": "compile_error", "message": text(sentence, MESSAGE),
        "line": where or api.line_of(compiled, session.file) or reply.line})


def undefined(error: BaseException) -> list[str]:
    """Return the names that are not defined, by a NameError of Python or of Numba's compiler."""
    return failures.undefined(error) + [
        name for cause in causes(error) if api.is_error(cause) for name in _UNDEFINED.findall(str(cause))]
