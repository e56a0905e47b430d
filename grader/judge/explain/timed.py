"""What is wrong with a timed call, which runs on contents that no call before has seen."""

from __future__ import annotations

from grader.judge.timing.pool import Wrong
from grader.model.result import Detail, OutputFigures

AGAIN = (
    "Timed calls are like all others: new values, at the sizes of their case. Does the kernel keep something from one "
    "call to the next, or does a launch not wait for what it needs?"
)


def explain_timed(wrong: Wrong) -> Detail:
    match wrong.what:
        case "values":
            named = wrong.name != "out"
            of = f" of {wrong.name}" if named else ""
            figures = [OutputFigures(name=wrong.name, wrong=wrong.count, total=wrong.total, unwritten=wrong.unwritten,
                                     worst=wrong.worst)] if named else []
            return Detail(
                kind="wrong_values", hint=AGAIN, wrong=wrong.count, total=wrong.total, unwritten=wrong.unwritten,
                worst=wrong.worst, outputs=figures,
                message=f"In a timed call {wrong.count:,} of {wrong.total:,} elements{of} are wrong, while the cases "
                        "before came out right.")
        case "statistic":
            return Detail(kind="wrong_values", message=f"In a timed call: {wrong.said}", hint=AGAIN)
        case "late":
            return Detail(
                kind="wrong_values", message="In a timed call the output changed after the kernels had ended.",
                hint=AGAIN)
        case "outside":
            return Detail(
                kind="out_of_bounds",
                message="In a timed call a store went past the end of a tensor, or before its start.",
                hint="Compare the smallest and the largest offset with the number of elements.")
        case "input":
            return Detail(
                kind="input_changed", message=f"In a timed call input {wrong.name} was changed.",
                hint="Inputs must be left as they are.")
