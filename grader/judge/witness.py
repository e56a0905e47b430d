"""What a simulator tells of a call that went wrong: what was seen while it ran, and the line that follows from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from grader.judge.compare import Comparison, index_of, same_bits
from grader.judge.explain.lines import place
from grader.judge.explain.runs import program
from grader.judge.simulation import Ran, Simulation
from grader.model.assignment import Assignment, Case, Inputs
from grader.model.result import Detail
from grader.plan.findings import EmptyGrid, Finding, MaskedUsed, Overflow, Race, Unwritten
from grader.plan.plan import Plan
from grader.plan.traffic import Watch

# Wrong elements that are looked at, of outputs that are run again in no time.
WATCHED = 4096
MOST_ELEMENTS = 1 << 17
MOST_CASES = 6
# Loads whose masked lanes are looked at one by one.
MOST_LINES = 4


class Witness:
    """Runs failed calls in a simulator. `plan_of` finds the plan of a case that is meant for one; `source` is the
    student's file."""

    def __init__(
        self, assignment: Assignment, source: str, simulation: Simulation, plan_of: Callable[[Case], Plan | None]
    ) -> None:
        self._assignment = assignment
        self._source = source
        self._simulation = simulation
        self._plan_of = plan_of
        self._left = MOST_CASES
        self._masked = False

    def seen(self, case: Case, inputs: Sequence[Inputs], watch: Watch | None = None) -> Ran | None:
        """What a simulator sees of calls; None if it cannot tell."""
        plan = self._plan_of(case)
        if plan is None or len(plan.calls()) < len(inputs):
            return None
        ran = self._simulation.run(self._assignment, case, plan, [
            {name: value.cpu() if isinstance(value, torch.Tensor) else value for name, value in one.items()}
            for one in inputs], watch=watch)
        return ran if isinstance(ran, Ran) else None

    def masked(self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran) -> list[Finding]:
        """Where an answer that is right rests on what masked lanes happen to hold: told once, of a small case."""
        if self._masked or case.hidden or ran.output.numel() == 1:
            return []
        self._masked = True

        def used(lines: list[int]) -> list[Finding]:
            other = self._simulation.run(self._assignment, case, plan, inputs, masked=lines)
            if not isinstance(other, Ran) or same_bits(other.output, ran.output):
                return []
            return [one for one in other.findings if isinstance(one, MaskedUsed)]

        found = used([])
        lines = list(dict.fromkeys(one.line for one in found))[:MOST_LINES]
        # Of several loads each is tried alone. None of them is to be trusted where it takes two to change the answer.
        return [one for line in lines for one in used([line])] or found if len(lines) > 1 else found

    def placed(
        self, detail: Detail, case: Case, inputs: Sequence[Inputs], comparison: Comparison, findings: Sequence[Finding]
    ) -> Detail:
        """The detail with the line that evidence names, and with what was seen there: the line of what explains the
        answer, else the one store that all wrong elements come from. Where several do, none is named."""
        if detail.place is not None or comparison.passed:
            return detail
        # In the order in which `explain.runs.beside` takes them.
        for kind in (EmptyGrid, Unwritten, Overflow, Race, MaskedUsed):
            for one in findings:
                if isinstance(one, kind):
                    return detail.model_copy(update={"place": place(self._assignment, self._source, one.line)})
        wrong = (comparison.wrong & ~comparison.unwritten).flatten().nonzero().flatten()
        if not wrong.numel() or not 1 < comparison.total <= MOST_ELEMENTS or not self._left:
            return detail
        self._left -= 1
        if wrong.numel() > WATCHED:
            # Even steps would see one of two stores that take turns.
            wrong = wrong[torch.randperm(wrong.numel(), generator=torch.Generator().manual_seed(0))[:WATCHED]].sort()[0]
        chosen = wrong.tolist()
        size = comparison.got.itemsize
        ran = self.seen(case, inputs, Watch(stores=[size * element for element in chosen]))
        stored = ran.stored if ran is not None else ()
        found = place(self._assignment, self._source, stored[0].line) if stored else None
        if found is None or len(stored) > 1 or stored[0].elements < len(chosen):
            return detail
        at = ", ".join(map(str, index_of(stored[0].byte // size, tuple(comparison.got.shape))))
        found.seen = (f"This line stored the wrong elements; the first of them, {self._assignment.output.name}[{at}], "
                      f"in program {program(stored[0].program, stored[0].last)}.")
        return detail.model_copy(update={"place": found})
