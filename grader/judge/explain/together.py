"""What programs and lanes do together, where each does not wait for the others: hints for wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

from grader import frontends
from grader.frontends.phrases import Phrases
from grader.judge.explain.called import Called
from grader.judge.explain.evidence import Hint
from grader.judge.explain.lines import in_line, quoted
from grader.plan.findings import Finding, Undefined, Unwritten


def not_filled(called: Called) -> Hint | None:
    """Hint for memory of a program that is read and never written, because lanes have left early."""
    kernels = [called.plan.kernels[one.kernel] for one in called.launches]
    passed = {name for kernel in kernels for name in frontends.of(kernel).argument_names(kernel)}
    left = left_early(called.ran.findings, called.words)
    read = any(isinstance(found, Unwritten) and found.tensor and found.tensor not in passed
               for found in called.ran.findings)
    return left if read else None


def added_to_nothing(called: Called) -> Hint | None:
    """Hint for an atomic operation on an output, a sum, that nobody has filled."""
    unfilled = any(isinstance(found, Unwritten) and found.given == called.output for found in called.ran.findings)
    adds = next((one for one in called.accesses
                 if one.access.access == "atomic" and one.layout.name == called.output), None)
    # Where nothing is summed over, an addition is no better than a store.
    if adds is None or not adds.summed or not unfilled or "float" not in called.assignment.output.dtype:
        return None
    return adds.hint(
        f"{adds.where} adds to {called.output}, which arrives full of NaN.",
        f"Host code has to fill {called.output} with 0 before the launch.", "not filled")


def left_early(findings: Sequence[Finding], words: Phrases) -> Hint | None:
    """Hint for lanes that have ended before a barrier at which others wait: what comes after it is done without
    them."""
    for found in findings:
        if isinstance(found, Undefined) and found.what == "divergent" and not found.certain and words.sights.left_early:
            return Hint(
                words.sights.left_early.format(line=in_line(found.line)), words.sights.left_early_look,
                pattern="left early", line=found.line)
    return None


def read_while_added(called: Called) -> Hint | None:
    """Hint for a load of what all programs of the same launch add to before it, which the load does not wait for. None
    where programs may wait for each other."""
    words = called.words.sights
    waits = {called.plan.kernels[one.kernel].name for one in called.launches if one.cooperative}
    if not words.not_added_yet:
        return None
    seen = [one for one in called.ran.accesses if one.kernel not in waits and one.grid != (1, 1, 1)]
    for load in seen:
        if load.access != "load" or load.times > 1:
            continue
        for one in seen:
            if one.access == "atomic" and 0 < one.line < load.line and (
                one.kernel, one.buffer, one.grid, one.first) == (load.kernel, load.buffer, load.grid, load.first
            ) and not any(one.programs):
                return Hint(
                    words.not_added_yet.format(line=load.line, tensor=quoted(load.tensor), adds=one.line),
                    words.not_added_yet_look, pattern="not added yet", line=load.line, sure=False)
    return None
