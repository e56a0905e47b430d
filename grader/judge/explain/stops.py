"""Why a call has no answer: what a planner, the rules of a plan, a simulator, a compiler or an executor said
instead."""

from __future__ import annotations

from grader.engine.forkserver.conversation import Lost
from grader.judge import execution, rules
from grader.judge.explain.failures import explain_failure
from grader.judge.explain.lines import in_line, line_text, phrases_of, place, quoted, spoken
from grader.judge.explain.problems import explain_problem
from grader.judge.explain.refusals import explain_absent, explain_refusal
from grader.model.assignment import Assignment
from grader.model.result import Detail
from grader.model.verdicts import FailureKind
from grader.plan import compiled
from grader.plan.messages import INLINE_ASSEMBLY, Absent, CannotSimulate, Exhausted, Failed, Refused

Stop = (
    Refused | Absent | Failed | CannotSimulate | Exhausted | Lost | rules.Problem | compiled.Problem
    | execution.GpuFailure)

FAULTS: dict[str, FailureKind] = {
    "illegal_address": "out_of_bounds", "misaligned_address": "exception", "launch_failure": "exception",
    "out_of_resources": "exception", "out_of_memory": "out_of_memory", "other": "exception", "time_limit": "time_out",
    "crash": "crash",
}

TOO_MANY_OPERATIONS = (
    "Look for a loop that does not end, and for a block size so small that millions of programs run: each program "
    "should work on hundreds of elements or more."
)
TOO_LARGE = (
    "A call launches a handful of kernels, each for as many programs as the tensors have blocks: launch one kernel for "
    "all of them, not one for each row or element."
)
UNPLANNED = (
    "The grader does not know how to do this without a GPU's driver. This is a gap of the grader, not a mistake of the "
    "submission: it costs no points. Show it to whoever runs the course."
)


def explain_stop(assignment: Assignment, source: str, stop: Stop) -> Detail:
    """Why there is no answer, and where to look. `source` is the student's file.

    The kind is "needs_gpu" where only a GPU can tell, and "infrastructure" where the gap is the grader's.
    """
    match stop:
        case Refused():
            return explain_refusal(assignment, source, stop)
        case Absent():
            return explain_absent(assignment, source, stop)
        case Failed():
            return _failed(assignment, source, stop)
        case CannotSimulate():
            return _cannot(assignment, source, stop)
        case Exhausted():
            return _exhausted(assignment, source, stop)
        case Lost():
            return explain_failure(
                assignment, stop.kind, _capital(stop.message), signal=stop.signal, exited=stop.exited)
        case compiled.Problem(why=why, message=message, line=line):
            told = explain_failure(assignment, "compile_error", message, line=line, text=line_text(source, line))
            hint = phrases_of(assignment).failures.gave_up.get(why, told.hint)
            return told.model_copy(update={"hint": hint})
        case execution.GpuFailure(kind=kind, message=message, line=line):
            return explain_failure(
                assignment, FAULTS[kind], _capital(message), line=line, text=line_text(source, line))
        case _:
            return explain_problem(assignment, source, stop)


def _capital(message: str) -> str:
    """A message of the judge or of a driver, as the beginning of a sentence."""
    return message[:1].upper() + message[1:]


def _failed(assignment: Assignment, source: str, failed: Failed) -> Detail:
    where, message = place(assignment, source, failed.line), failed.message
    words = phrases_of(assignment).calls
    match failed.failure:
        case "unsupported":
            return Detail(
                kind="infrastructure", message=f"The grader cannot plan this{in_line(failed.line)}: {message}",
                hint=UNPLANNED, place=where, traceback=failed.traceback)
        case "kernel_too_long" | "too_many_kernels" | "too_large":
            hints = {"kernel_too_long": words.kernel_too_long, "too_many_kernels": words.too_many_kernels}
            too_large = spoken(TOO_LARGE, phrases_of(assignment))
            return Detail(
                kind="over_limit", message=f"The call asks for more than a plan can hold: {message}",
                hint=hints.get(failed.failure, too_large), place=where, traceback=failed.traceback)
        case "wrong_signature":
            message = f"The function is defined as {message}."
    detail = explain_failure(
        assignment, failed.failure, message, line=failed.line, text=line_text(source, failed.line),
        constants=failed.constants)
    return detail.model_copy(update={"traceback": failed.traceback})


def _cannot(assignment: Assignment, source: str, cannot: CannotSimulate) -> Detail:
    kernel = f" of the kernel {quoted(cannot.kernel)}" if cannot.kernel else ""
    hint = phrases_of(assignment).calls.assembly_unsimulated if cannot.operation == INLINE_ASSEMBLY else (
        "The simulator does not know this yet, which is no mistake of the submission's.")
    return Detail(
        kind="needs_gpu",
        message=f"The grader cannot simulate {quoted(cannot.operation)}{in_line(cannot.line)}{kernel}: it needs a GPU.",
        hint=f"It is not judged here: until it runs on a GPU, the points of this assignment stay open. {hint}",
        place=place(assignment, source, cannot.line),
    )


def explain_slow(assignment: Assignment, source: str, exhausted: Exhausted, case: str, seconds: float) -> Detail:
    """Of a case that may only be too long for the simulator, since another one took it so many seconds."""
    return Detail(
        kind="needs_gpu", place=place(assignment, source, exhausted.line),
        message=f"The simulator does not get to the end of the kernel {quoted(exhausted.kernel)} in time. As {case} "
                f"took it {seconds:.1f} s, this case may be no more than long: it needs a GPU.",
        hint=spoken("It is not judged here: until it runs on a GPU, the points of this assignment stay open. A long "
                    "loop is slow anywhere: let more programs, or threads, share it.",
                    phrases_of(assignment)))


def explain_uncompiled(assignment: Assignment) -> Detail:
    """Of kernels that took a compiler the rest of an attempt's time, after every case had come out right."""
    return Detail(
        kind="needs_gpu",
        message="Every case that was run here is right, but compiling for a GPU took all the time that was left: "
                "whether a GPU can launch each kernel is not known here.",
        hint=spoken("It is not judged here: until it runs on a GPU, the points of this assignment stay open. A "
                    "compiler takes long where few threads hold a large block: give it more threads, or loop over "
                    "smaller blocks.", phrases_of(assignment)))


def _exhausted(assignment: Assignment, source: str, exhausted: Exhausted) -> Detail:
    kernel = f"The kernel {quoted(exhausted.kernel)}" if exhausted.kernel else "The call"
    where, words = place(assignment, source, exhausted.line), phrases_of(assignment)
    if exhausted.what == "memory":
        return Detail(
            kind="out_of_memory", message=f"{kernel} ran out of memory{in_line(exhausted.line)}.", place=where,
            hint=words.calls.no_memory)
    if exhausted.what == "stalled" and exhausted.resident:
        return Detail(
            kind="time_out", place=where,
            message=spoken(f"{kernel} does not end: its programs wait for each other{in_line(exhausted.line)}, and a "
                           f"GPU holds at most {exhausted.resident:,} of them at a time.", words),
            hint=spoken("Those that do not fit begin when others have ended: launch no more programs than are "
                        "resident, or let what all must finish first go into an earlier launch.", words))
    if exhausted.what == "stalled":
        return Detail(
            kind="time_out",
            message=spoken(f"{kernel} does not end: its programs wait for each other{in_line(exhausted.line)}.", words),
            hint=spoken("A program cannot rely on another one running at the same time: what all programs must finish "
                        "first goes into an earlier launch.", words), place=where)
    text = line_text(source, exhausted.line)
    if exhausted.what == "endless":
        return Detail(
            kind="time_out", place=where,
            message=f"{kernel} does not end: the loop{in_line(exhausted.line)} changes nothing that its condition "
                    "compares.",
            hint=f"Let each round change what {quoted(text) if text else 'the condition'} compares, as where an index "
                 "moves on by a block.")
    takes = "takes more operations" if exhausted.what == "operations" else "runs longer"
    at = in_line(exhausted.line)
    made = f": the loop{at} has made {exhausted.rounds:,} rounds" if exhausted.rounds else at
    return Detail(
        kind="time_out", place=where, message=f"{kernel} {takes} than the grader's limit allows{made}.",
        hint=f"Does what {quoted(text)} says ever become false? Each round has to bring it nearer to its end."
        if text.startswith("while") else spoken(TOO_MANY_OPERATIONS, words))
