"""Answers to the judge if host code cannot be planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from grader.languages.cuda.confined.built import HostLines
from grader.languages.cuda.confined.planner.recording import Recording
from grader.languages.cuda.confined.planner.records import HARMLESS, HostRecord, Kind
from grader.plan.messages import Failed, Refusal, Refused

_MESSAGE = 2_000
_FAILURES = ("exception", "out_of_memory", "time_out", "unsupported", "too_large")
_OUT_OF_MEMORY = 2
"""CUDA's number for an allocation that failed."""


class NoPlan(Exception):
    """Lack of a plan: `reply` says why, with a `seq` of 0."""

    def __init__(self, reply: Refused | Failed) -> None:
        super().__init__(reply)
        self.reply = reply


def refused(why: Refusal, operator: str, sentence: str, line: int) -> NoPlan:
    return NoPlan(Refused(
        seq=0, why=why, operator=_cut(operator, 200), line=_line(line), traceback=_traceback(line, sentence)))


def failed(failure: str, message: str, line: int = 0) -> NoPlan:
    known = failure if failure in _FAILURES else "exception"
    return NoPlan(Failed(
        seq=0, failure=known, message=_cut(message, _MESSAGE), line=_line(line),  # type: ignore[arg-type]
        traceback=_traceback(line, message) if line else ""))


def ending(recording: Recording, lines: HostLines) -> NoPlan | None:
    """Return why host code ended early, or the CUDA error that it met; None if there is neither."""
    last = recording.last
    error = _error([record for phase in recording.phases() for record in phase])
    if last is None:
        if recording.up:
            return failed("time_out", "The function runs longer than the grader's limit allows.")
        return failed("exception", "host code ends its process")
    line = lines.line(last.frames)
    if last.kind == Kind.REFUSED:
        why, operator, sentence = last.lines(3)
        return refused(why if why in get_args(Refusal) else "other", operator, sentence, line)  # type: ignore[arg-type]
    if last.kind == Kind.FAILED:
        failure, sentence = last.lines(2)
        # Host code that ends after a CUDA error ends because of that error.
        if error is None or failure != "exception":
            return failed(failure, sentence, line)
    if error is None:
        return None
    return failed("out_of_memory" if error.numbers[1] == _OUT_OF_MEMORY else "exception",
                  error.text.decode(errors="replace"), lines.line(error.frames))


def _error(records: Sequence[HostRecord]) -> HostRecord | None:
    """Return the first CUDA error, except for failed launches of kernels that host code launched later; None if there
    is none."""
    launched_later: set[int] = set()
    error: HostRecord | None = None
    for record in reversed(records):
        if record.kind == Kind.LAUNCH:
            launched_later.add(record.numbers[0] + 1)
        elif is_error(record) and record.numbers[0] not in launched_later:
            error = record
    return error


def is_error(record: HostRecord) -> bool:
    """Return whether a record is a CUDA error that matters."""
    return record.kind == Kind.ERROR and record.numbers[0] < HARMLESS


def _line(line: int) -> int:
    return min(line, 10_000_000)


def _traceback(line: int, sentence: str) -> str:
    return _cut(f"line {line}: {sentence}" if line else sentence, _MESSAGE)


def _cut(text: str, most: int) -> str:
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)
