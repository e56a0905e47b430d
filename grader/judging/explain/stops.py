"""Explanations of calls without an answer, stopped by a planner, by the rules for plans (such as a request for more
than a GPU has), by a simulator, a compiler or an executor; and of errors in a timed call."""

from __future__ import annotations

import re
from typing import Any

from grader.course.assignment import Assignment
from grader.judging.explain.barriers import barrier_text, of_grid, unreached, where
from grader.judging.explain.evidence import Hint
from grader.judging.explain.failures import explain_failure
from grader.judging.explain.refusals import explain_absent, explain_refusal
from grader.judging.explain.wording import capital, in_line, line_text, phrases_of, place, quoted, say, written_name
from grader.judging.plans import residency, rules
from grader.judging.running import execution
from grader.judging.speed.pool import ReplayFault
from grader.languages.phrases import Fact, fact
from grader.plan import compiled
from grader.plan.messages import INLINE_ASSEMBLY, AbsentName, CannotSimulate, Exhausted, Failed, Refused
from grader.results.result import Detail, OutputFigures
from grader.results.verdicts import FailureKind
from grader.sandbox.forkserver.conversation import LostAnswer

_NAME = re.compile(r"[^\W\d]\w*+")
Stop = (
    Refused | AbsentName | Failed | CannotSimulate | Exhausted | LostAnswer | rules.Problem | compiled.Problem
    | execution.GpuFailure)

FAULTS: dict[str, FailureKind] = {
    "illegal_address": "out_of_bounds", "misaligned_address": "exception", "launch_failure": "exception",
    "out_of_resources": "exception", "out_of_memory": "out_of_memory", "other": "exception", "time_limit": "time_out",
    "crash": "crash",
}

# The problems of a plan, and the names of their sentences.
_ASKED: dict[type, str] = {
    rules.GridTooLarge: "grid", residency.TooManyRegisters: "registers", residency.TooManyTogether: "together",
    rules.TooMuchMemory: "memory", rules.BeyondBuffer: "beyond", rules.HostMemory: "host",
    rules.NothingToCopy: "copy", rules.NotOnTarget: "option",
}


def explain_stop(assignment: Assignment, source: str, stop: Stop) -> Detail:
    """Return why there is no answer, and what to do. `source` is the student's file.

    A stop is a fact about the file; its kind is "needs_gpu" if only a GPU can judge the file. A stop is never a failure
    of the grader's: a hostile process can send any message, so no message stands for such a failure.
    """
    match stop:
        case Refused():
            return explain_refusal(assignment, source, stop)
        case AbsentName():
            return explain_absent(assignment, source, stop)
        case Failed():
            return _failed(assignment, source, stop)
        case CannotSimulate():
            return _cannot(assignment, source, stop)
        case Exhausted():
            return _exhausted(assignment, source, stop)
        case LostAnswer():
            return explain_failure(
                assignment, stop.kind, capital(stop.message), source=source, signal=stop.signal, exited=stop.exited)
        case compiled.Problem(why=why, message=message, line=line):
            detail = explain_failure(assignment, "compile_error", message, source=source, line=line)
            words = phrases_of(assignment, source)
            hint = say(words, fact(f"gave_up.{why}")) if f"gave_up.{why}" in words.sentences else detail.hint
            return detail.model_copy(update={"hint": hint})
        case execution.GpuFailure(kind=kind, message=message, line=line):
            return explain_failure(
                assignment, FAULTS[kind], capital(message), source=source, line=line)
        case _:
            return _problem(assignment, source, stop)


def _failed(assignment: Assignment, source: str, failed: Failed) -> Detail:
    where, message, words = place(assignment, source, failed.line), failed.message, phrases_of(assignment, source)
    values = {"line": in_line(failed.line), "message": message}
    match failed.failure:
        case "unsupported":
            hint = Hint(fact("unsupported.seen", **values), fact("unsupported.advice"))
            return hint.detail(words, "unsupported", where, failed.traceback)
        case "kernel_too_long" | "too_many_kernels" | "too_large":
            advice = None if failed.failure == "too_large" and ":" in message else fact(f"plan.{failed.failure}")
            hint = Hint(fact("plan.seen", **values), advice)
            return hint.detail(words, "over_limit", where, failed.traceback)
        case "autograd":
            hint = Hint(fact("autograd.seen", **values), fact("autograd.advice", signature=assignment.signature))
            return hint.detail(words, "wrong_signature", where, failed.traceback)
        case "wrong_signature":
            message = say(words, fact("failed.signature", **values))
    detail = explain_failure(assignment, failed.failure, message, source=source, line=failed.line,
                             constants=failed.constants)
    return detail.model_copy(update={"traceback": failed.traceback})


def _cannot(assignment: Assignment, source: str, cannot: CannotSimulate) -> Detail:
    advice = "assembly" if cannot.operation == INLINE_ASSEMBLY else "unknown"
    kernel = fact("needs_gpu.kernel", kernel=quoted(cannot.kernel)) if cannot.kernel else ""
    return Hint(
        fact("needs_gpu.operation", operation=quoted(cannot.operation), line=in_line(cannot.line), kernel=kernel),
        fact(f"needs_gpu.{advice}")).detail(
            phrases_of(assignment, source), "needs_gpu", place(assignment, source, cannot.line))


def explain_slow(assignment: Assignment, source: str, exhausted: Exhausted, case: str, seconds: float) -> Detail:
    """Explain a time-out of the simulator that proves nothing: another `case` took `seconds`, so this one may just be
    long."""
    return Hint(
        fact("needs_gpu.slow.seen", kernel=_ran(exhausted), case=case, seconds=seconds),
        fact("needs_gpu.slow.advice")).detail(
            phrases_of(assignment, source), "needs_gpu", place(assignment, source, exhausted.line))


def explain_uncompiled(assignment: Assignment, source: str) -> Detail:
    """Explain kernels that took a compiler the rest of an attempt's time, after every case had come out right."""
    return Hint(fact("needs_gpu.uncompiled.seen"), fact("needs_gpu.uncompiled.advice")).detail(
        phrases_of(assignment, source), "needs_gpu")


def _ran(exhausted: Exhausted) -> Fact:
    return fact("exhausted.kernel", kernel=quoted(exhausted.kernel)) if exhausted.kernel else fact("exhausted.call")


def _exhausted(assignment: Assignment, source: str, exhausted: Exhausted) -> Detail:
    text, what = line_text(source, exhausted.line), exhausted.what
    values = {"kernel": _ran(exhausted), "line": where(source, exhausted.line), "resident": exhausted.resident,
              "text": quoted(text), "rounds": exhausted.rounds}
    seen, advice = f"exhausted.{what}.seen", fact(f"exhausted.{what}.advice")
    words = phrases_of(assignment, source)
    if what == "stalled" and exhausted.ended is not None:
        advice = fact("exhausted.stalled.together")
        if exhausted.ended and of_grid(source, exhausted.line):
            seen, advice = "exhausted.stalled.ended", unreached(source, exhausted.line, words)
            values |= {"ended": exhausted.ended, "what": barrier_text(source, exhausted.line, words)}
    elif what == "stalled" and exhausted.resident:
        seen, advice = "exhausted.stalled.resident", fact("exhausted.stalled.fewer")
    elif what == "unmet" and words.marked("arrivals", source):
        advice = fact(f"exhausted.unmet.{'parity' if words.marked('parity', source) else 'arrivals'}")
    elif what == "endless" and (shared := {*words.shared(source)} & {*_NAME.findall(text)}):
        seen, advice = "exhausted.endless.waits", fact("exhausted.endless.shared")
        values["tensor"] = quoted(min(shared))
    elif what == "endless" and text:
        advice = fact("exhausted.endless.text", **values)
    elif what not in ("memory", "stalled", "unmet", "endless"):
        what = "operations" if what == "operations" else "time"
        seen = f"exhausted.{what}.{'rounds' if exhausted.rounds else 'seen'}"
        advice = fact("exhausted.while", **values) if text.startswith("while") else fact("failed.time_out")
    return Hint(fact(seen, **values), advice).detail(
        words, "out_of_memory" if what == "memory" else "time_out",
        place(assignment, source, exhausted.line))


def _problem(assignment: Assignment, source: str, problem: rules.Problem) -> Detail:
    """Return what is requested and what there is. The fields of a problem are the values of its sentence."""
    values: dict[str, Any] = vars(problem) | {
        "line": in_line(problem.line), "kernel": quoted(vars(problem).get("kernel", "")), "each": ""}
    name, seen, advice = _ASKED[type(problem)], "seen", "advice"
    match problem:
        case rules.GridTooLarge(axis=axis):
            advice = "x" if axis == "x" else "swap"
        case residency.TooManyTogether(registers=registers) if registers:
            values["each"] = fact("asked.together.each", registers=registers)
        case rules.TooMuchMemory(bytes=size, most=most, on=on):
            seen = on
            values |= {"size": _size(size), "most": _size(most), "line": values["line"] or fact("asked.memory.unknown")}
        case rules.BeyondBuffer(given=given, kernel=kernel):
            # Pointers have no views: this is a copy, or cudaMemset.
            seen = "kernel" if kernel else "copy" if phrases_of(assignment, source).threads else "view"
            values["tensor"] = _owner(given, assignment)
        case rules.HostMemory(given=given):
            advice = "given" if given else "own"
            values["tensor"] = _owner(given, assignment)
    hint = Hint(fact(f"asked.{name}.{seen}", **values), fact(f"asked.{name}.{advice}", **values))
    return hint.detail(
        phrases_of(assignment, source), "out_of_memory" if name == "memory" else "exception",
        place(assignment, source, problem.line))


def _owner(given: str, assignment: Assignment) -> Fact | str:
    return written_name(assignment, given) or fact("tensor.unnamed")


def _size(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 1 << 30 else f"{size / 2**20:,.1f} MiB"


def explain_timed(assignment: Assignment, source: str, wrong: ReplayFault) -> Detail:
    """Return the error of a timed call. Its contents are new to the kernel."""
    words = phrases_of(assignment, source)
    if wrong.what == "values":
        named = wrong.name != "out"
        figures = [OutputFigures(name=wrong.name, wrong=wrong.count, total=wrong.total, unwritten=wrong.unwritten,
                                 worst=wrong.worst)] if named else []
        hint = Hint(fact(f"timed.values.{'named' if named else 'out'}", count=wrong.count, total=wrong.total,
                         name=wrong.name), fact("timed.advice"))
        return hint.detail(words, "wrong_values").model_copy(update={
            "wrong": wrong.count, "total": wrong.total, "unwritten": wrong.unwritten, "worst": wrong.worst,
            "outputs": figures})
    kinds: dict[str, FailureKind] = {"outside": "out_of_bounds", "input": "input_changed"}
    advice = f"timed.{wrong.what}.advice" if wrong.what in kinds else "timed.advice"
    return Hint(fact(f"timed.{wrong.what}.seen", name=wrong.name, said=wrong.said), fact(advice)).detail(
        words, kinds.get(wrong.what, "wrong_values"))
