"""Plans that ask for what no GPU of the target has: programs, memory, views beyond their tensor, options."""

from __future__ import annotations

from grader.frontends.phrases import Phrases
from grader.judge.explain.lines import in_line, phrases_of, place, quoted, spoken, written_name
from grader.judge.rules import (
    BeyondBuffer,
    GridTooLarge,
    HostMemory,
    NothingToCopy,
    NotOnTarget,
    Problem,
    TooManyTogether,
    TooMuchMemory,
)
from grader.model.assignment import Assignment
from grader.model.result import Detail


def explain_problem(assignment: Assignment, source: str, problem: Problem) -> Detail:
    """What is asked for, what there is, and what to do instead. `source` is the student's file."""
    words = phrases_of(assignment)
    given = written_name(assignment, problem.given) if isinstance(problem, BeyondBuffer | HostMemory) else ""
    message, hint = _told(problem, words, given)
    return Detail(
        kind="out_of_memory" if problem.failure == "memory_limit" else "exception", message=message, hint=hint,
        place=place(assignment, source, problem.line))


def _told(problem: Problem, phrases: Phrases, given: str) -> tuple[str, str]:
    line, words, own = in_line(problem.line), phrases.calls, phrases.names.own_unnamed
    match problem:
        case GridTooLarge(kernel=kernel, axis=axis, programs=programs, most=most):
            swap = "" if axis == "x" else f", or let the grid's first size count what {axis} counts: it may be larger"
            return (
                spoken(f"The launch of {quoted(kernel)}{line} asks for {programs:,} programs along {axis}, where a GPU "
                       f"takes {most:,} at most.", phrases),
                spoken(f"Let each program work on a larger block{swap}.", phrases))
        case TooManyTogether(kernel=kernel, option=option, programs=programs, most=most):
            return (
                spoken(f"The launch of {quoted(kernel)}{line} asks for {programs:,} programs at a time "
                       f"({option}), where the GPU holds {most:,} at most.", phrases),
                spoken("Launch as many programs as it holds, and let each go on to further blocks in a loop.", phrases))
        case TooMuchMemory(bytes=size, most=most, on=on):
            has = f"the GPU has {_size(most)}" if on == "device" else f"it may take {_size(most)} of the host's memory"
            return (
                f"The call allocates {_size(size)}, but {has}; the largest tensor is made"
                f"{line or ' in an unknown line'}.",
                "Allocate no more than the sizes of the inputs need.")
        case BeyondBuffer(beyond=beyond, kernel=kernel):
            taken = f", as the launch of {quoted(kernel)} takes it," if kernel else ""
            view = f"A view of {given or own}{line}{taken} ends {beyond:,} bytes after its memory."
            if phrases.names.threads and not kernel:
                # Pointers have no views: this is a copy, or cudaMemset.
                view = f"The copy or fill{line} goes on for {beyond:,} bytes after the end of {given or own}."
            return view, words.beyond_buffer
        case HostMemory(kernel=kernel):
            return (
                f"The launch of {quoted(kernel)}{line} takes {given or own}, which lies in host memory: kernels reach "
                "the GPU's memory alone.",
                words.host_given if given else words.host_own)
        case NothingToCopy():
            return (
                f"The copy{line} takes a tensor that no kernel was launched on before.",
                words.nothing_to_copy)
        case NotOnTarget(kernel=kernel, option=option, target=target):
            return (
                f"The launch of {quoted(kernel)}{line} sets {option}, which {target} does not have.",
                f"Leave {option} out: it needs a GPU of a later generation.")


def _size(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 1 << 30 else f"{size / 2**20:,.1f} MiB"
