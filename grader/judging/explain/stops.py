"""Explanations of calls without an answer: the stop of a planner, of the rules of a plan (such as a request for more
than a GPU has), of a simulator, a compiler or an executor. Also of errors in a timed call."""

from __future__ import annotations

from grader.course.assignment import Assignment
from grader.judging.explain.failures import HINTS, explain_failure
from grader.judging.explain.refusals import explain_absent, explain_refusal
from grader.judging.explain.wording import capital, in_line, line_text, phrases_of, place, quoted, spoken, written_name
from grader.judging.plans import residency, rules
from grader.judging.running import execution
from grader.judging.speed.pool import Wrong
from grader.languages.phrases import Phrases
from grader.plan import compiled
from grader.plan.messages import INLINE_ASSEMBLY, Absent, CannotSimulate, Exhausted, Failed, Refused
from grader.results.result import Detail, OutputFigures
from grader.results.text import plural
from grader.results.verdicts import FailureKind
from grader.sandbox.forkserver.conversation import Lost

Stop = (
    Refused | Absent | Failed | CannotSimulate | Exhausted | Lost | rules.Problem | compiled.Problem
    | execution.GpuFailure)

FAULTS: dict[str, FailureKind] = {
    "illegal_address": "out_of_bounds", "misaligned_address": "exception", "launch_failure": "exception",
    "out_of_resources": "exception", "out_of_memory": "out_of_memory", "other": "exception", "time_limit": "time_out",
    "crash": "crash",
}

TOO_LARGE = ("A call launches a handful of kernels, each for as many programs as the tensors have blocks: launch one "
             "kernel for all of them, not one for each row or element.")
UNSUPPORTED = ("The grader judges only what it can follow: write this part in another way. Where the assignment asks "
               "for it, show this to whoever runs the course: it is flagged for them.")
OPEN = "It is not judged here: until it runs on a GPU, the points of this assignment stay open."
AGAIN = ("Timed calls are like all others: new values, at the sizes of their case. Does the kernel keep something from "
         "one call to the next, or does a launch not wait for what it needs?")


def explain_stop(assignment: Assignment, source: str, stop: Stop) -> Detail:
    """Return why there is no answer, and where to look. `source` is the student's file.

    A stop is a fact about the file; its kind is "needs_gpu" if only a GPU can judge the file. A stop is never a failure
    of the grader's: a hostile process can send any message, so no message stands for such a failure.
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
                assignment, stop.kind, capital(stop.message), signal=stop.signal, exited=stop.exited)
        case compiled.Problem(why=why, message=message, line=line):
            told = explain_failure(assignment, "compile_error", message, line=line, text=line_text(source, line))
            hint = phrases_of(assignment).failures.gave_up.get(why, told.hint)
            return told.model_copy(update={"hint": hint})
        case execution.GpuFailure(kind=kind, message=message, line=line):
            return explain_failure(
                assignment, FAULTS[kind], capital(message), line=line, text=line_text(source, line))
        case _:
            return _problem(assignment, source, stop)


def _failed(assignment: Assignment, source: str, failed: Failed) -> Detail:
    where, message = place(assignment, source, failed.line), failed.message
    words = phrases_of(assignment).calls
    match failed.failure:
        case "unsupported":
            return Detail(
                kind="unsupported", message=f"Not supported{in_line(failed.line)}: {message}.",
                hint=UNSUPPORTED, place=where, traceback=failed.traceback)
        case "kernel_too_long" | "too_many_kernels" | "too_large":
            hints = {"kernel_too_long": words.kernel_too_long, "too_many_kernels": words.too_many_kernels}
            too_large = spoken(TOO_LARGE, phrases_of(assignment)) if ":" not in message else ""
            return Detail(
                kind="over_limit", message=f"The call asks for more than a plan can hold: {message}",
                hint=hints.get(failed.failure, too_large), place=where, traceback=failed.traceback)
        case "wrong_signature":
            message = f"The function is defined as {message}."
    detail = explain_failure(assignment, failed.failure, message, line=failed.line, text=line_text(source, failed.line),
                             constants=failed.constants)
    return detail.model_copy(update={"traceback": failed.traceback})


def _cannot(assignment: Assignment, source: str, cannot: CannotSimulate) -> Detail:
    kernel = f" of the kernel {quoted(cannot.kernel)}" if cannot.kernel else ""
    hint = phrases_of(assignment).calls.assembly_unsimulated if cannot.operation == INLINE_ASSEMBLY else (
        "The simulator does not know this yet, which is no mistake of the submission's.")
    return Detail(
        kind="needs_gpu", hint=f"{OPEN} {hint}", place=place(assignment, source, cannot.line),
        message=f"The grader cannot simulate {quoted(cannot.operation)}{in_line(cannot.line)}{kernel}: it needs a GPU.")


def explain_slow(assignment: Assignment, source: str, exhausted: Exhausted, case: str, seconds: float) -> Detail:
    """Explain a time-out of the simulator that proves nothing: another `case` took `seconds`, so this one may just be
    long."""
    return Detail(
        kind="needs_gpu", place=place(assignment, source, exhausted.line),
        message=f"The simulator did not finish the kernel {quoted(exhausted.kernel)} in time. As {case} took "
                f"{seconds:.1f} s, this case may just be long, and not endless: it needs a GPU.",
        hint=spoken(f"{OPEN} A long loop is slow anywhere: let more programs, or threads, share it.",
                    phrases_of(assignment)))


def explain_uncompiled(assignment: Assignment) -> Detail:
    """Explain kernels that took a compiler the rest of an attempt's time, after every case had come out right."""
    return Detail(
        kind="needs_gpu",
        message="Every case that was run here is right, but compiling for a GPU took all the time that was left: "
                "whether a GPU can launch each kernel is not known here.",
        hint=spoken(f"{OPEN} A compiler takes long where few threads hold a large block: give it more threads, or loop "
                    "over smaller blocks.", phrases_of(assignment)))


def _exhausted(assignment: Assignment, source: str, exhausted: Exhausted) -> Detail:
    kernel = f"The kernel {quoted(exhausted.kernel)}" if exhausted.kernel else "The call"
    words, at, text = phrases_of(assignment), in_line(exhausted.line), line_text(source, exhausted.line)
    if exhausted.what == "memory":
        message, hint = f"{kernel} ran out of memory{at}.", words.calls.no_memory
    elif exhausted.what == "stalled":
        holds = f", and a GPU holds at most {exhausted.resident:,} of them at a time" if exhausted.resident else ""
        message = spoken(f"{kernel} does not end: its programs wait for each other{at}{holds}.", words)
        fewer = ", or launch no more programs than are resident" if exhausted.resident else ""
        hint = spoken("A program cannot rely on another one running at the same time: what all programs must finish "
                      f"first goes into an earlier launch{fewer}.", words)
    elif exhausted.what == "endless":
        message = f"{kernel} does not end: the loop{at} changes nothing that its condition compares."
        hint = (f"Let each round change what {quoted(text) if text else 'the condition'} compares, as where an index "
                "moves on by a block.")
    else:
        takes = "takes more operations" if exhausted.what == "operations" else "runs longer"
        made = f": the loop{at} has made {plural(exhausted.rounds, 'round')}" if exhausted.rounds else at
        message = f"{kernel} {takes} than the grader's limit allows{made}."
        hint = (f"Does what {quoted(text)} says ever become false? Each round has to bring it nearer to its end."
                if text.startswith("while") else spoken(HINTS["time_out"], words))
    return Detail(kind="out_of_memory" if exhausted.what == "memory" else "time_out", message=message, hint=hint,
                  place=place(assignment, source, exhausted.line))


def _problem(assignment: Assignment, source: str, problem: rules.Problem) -> Detail:
    message, hint = _asked(problem, phrases_of(assignment), assignment)
    return Detail(
        kind="out_of_memory" if problem.failure == "memory_limit" else "exception", message=message, hint=hint,
        place=place(assignment, source, problem.line))


def _asked(problem: rules.Problem, phrases: Phrases, assignment: Assignment) -> tuple[str, str]:
    """Return a message, with what is asked for and what there is, and a hint."""
    line, words, own = in_line(problem.line), phrases.calls, phrases.names.own_unnamed
    given = written_name(
        assignment, problem.given) if isinstance(problem, rules.BeyondBuffer | rules.HostMemory) else ""
    match problem:
        case rules.GridTooLarge(kernel=kernel, axis=axis, programs=programs, most=most):
            swap = "" if axis == "x" else f", or let the grid's first size count what {axis} counts: it may be larger"
            return (
                spoken(f"The launch of {quoted(kernel)}{line} asks for {programs:,} programs along {axis}, where a GPU "
                       f"takes {most:,} at most.", phrases),
                spoken(f"Let each program work on a larger block{swap}.", phrases))
        case residency.TooManyRegisters(kernel=kernel, threads=threads, registers=registers, most=most):
            return (
                spoken(f"The launch of {quoted(kernel)}{line} cannot begin: {threads:,} threads a program, each with "
                       f"{registers} registers, where a program has {most:,} registers at most.", phrases),
                spoken("Launch fewer threads a program, or let each thread hold fewer values."
                       f"{words.fewer_registers}", phrases))
        case residency.TooManyTogether(kernel=kernel, option=option, programs=programs, most=most, registers=registers):
            each = f", as each thread takes {registers} registers" if registers else ""
            return (
                spoken(f"The launch of {quoted(kernel)}{line} asks for {programs:,} programs at a time "
                       f"({option}), where the GPU holds {most:,} at most{each}.", phrases),
                spoken("Launch as many programs as it holds, and let each go on to further blocks in a loop.", phrases))
        case rules.TooMuchMemory(bytes=size, most=most, on=on):
            has = f"the GPU has {_size(most)}" if on == "device" else f"it may take {_size(most)} of the host's memory"
            return (f"The call allocates {_size(size)}, but {has}; the largest tensor is made"
                    f"{line or ' in an unknown line'}.", "Allocate no more than the sizes of the inputs need.")
        case rules.BeyondBuffer(beyond=beyond, kernel=kernel):
            taken = f", as the launch of {quoted(kernel)} takes it," if kernel else ""
            view = f"A view of {given or own}{line}{taken} ends {beyond:,} bytes after its memory."
            if phrases.names.threads and not kernel:
                # Pointers have no views: this is a copy, or cudaMemset.
                view = f"The copy or fill{line} goes on for {beyond:,} bytes after the end of {given or own}."
            return view, words.beyond_buffer
        case rules.HostMemory(kernel=kernel):
            return (f"The launch of {quoted(kernel)}{line} takes {given or own}, which lies in host memory: kernels "
                    "reach the GPU's memory alone.", words.host_given if given else words.host_own)
        case rules.NothingToCopy():
            return f"The copy{line} takes a tensor that no kernel was launched on before.", words.nothing_to_copy
        case rules.NotOnTarget(kernel=kernel, option=option, target=target):
            return (f"The launch of {quoted(kernel)}{line} sets {option}, which {target} does not have.",
                    f"Leave {option} out: it needs a GPU of a later generation.")


def _size(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 1 << 30 else f"{size / 2**20:,.1f} MiB"


def explain_timed(wrong: Wrong) -> Detail:
    """Return what is wrong with a timed call, which runs on contents that no call before has seen."""
    if wrong.what == "values":
        named = wrong.name != "out"
        figures = [OutputFigures(name=wrong.name, wrong=wrong.count, total=wrong.total, unwritten=wrong.unwritten,
                                 worst=wrong.worst)] if named else []
        return Detail(
            kind="wrong_values", hint=AGAIN, wrong=wrong.count, total=wrong.total, unwritten=wrong.unwritten,
            worst=wrong.worst, outputs=figures,
            message=f"In a timed call {wrong.count:,} of {wrong.total:,} elements"
                    f"{f' of {wrong.name}' if named else ''} are wrong, while the cases before came out right.")
    said: dict[str, tuple[FailureKind, str, str]] = {
        "statistic": ("wrong_values", f": {wrong.said}", AGAIN),
        "late": ("wrong_values", " the output changed after the kernels had ended.", AGAIN),
        "outside": ("out_of_bounds", " a store went past the end of a tensor, or before its start.",
                    "Compare the smallest and the largest offset with the number of elements."),
        "input": ("input_changed", f" input {wrong.name} was changed.", "Inputs must be left as they are."),
    }
    kind, message, hint = said[wrong.what]
    return Detail(kind=kind, message=f"In a timed call{message}", hint=hint)
