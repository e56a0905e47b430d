"""Evidence about a call from a simulator: the line where the call goes wrong, and undefined behaviour on which a right
answer rests."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from grader import languages
from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.answers.answers import Compared
from grader.judging.evidence.streams import unordered
from grader.judging.explain.wording import element, phrases_of, place, program, say
from grader.judging.running.allowance import Allowance
from grader.judging.running.simulation import Manner, Ran, Simulation
from grader.languages.phrases import fact
from grader.plan.findings import (
    Access,
    EmptyGrid,
    Finding,
    MaskedUsed,
    Overflow,
    Race,
    Recast,
    Undefinable,
    Undefined,
    Unwritten,
)
from grader.plan.messages import Elsewhere, Exhausted
from grader.plan.plan import Plan
from grader.plan.traffic import Watch
from grader.results.result import Detail

# Most wrong elements whose stores are watched, the largest output that runs again for that, and the most such runs.
WATCHED = 4096
MOST_ELEMENTS = 1 << 17
MOST_CASES = 6
# Most lines that are tried one by one.
MOST_LINES = 4
# Cases in which a line comes out right in another order, too, after which no further case is reordered for it.
MOST_ORDERS = 4
# Cases that are run on another device though no finding is a reason, and the fewest elements of such a case.
MOST_ELSEWHERE, LEAST_ELEMENTS = 2, 32
LARGE = 0x5A
"""The byte of which numbers are large, in each type."""
UNORDERED_SECONDS = 10.0
"""Seconds for other orders of operations, which are not charged to the submission."""
ELSEWHERE: dict[Elsewhere, Undefinable] = {"bits": "unset", "places": "places", "errors": "approximate"}


@dataclass(frozen=True)
class Foreseen:
    """A simulator's view of a call that a GPU runs as well: `seen` is the outcome, None if the simulator cannot run the
    call, and `right` whether its answer is. `chances` is undefined behaviour on which a right answer rests. `endless`
    is set if the call took too long or does not end."""

    seen: Ran | None = None
    right: bool = False
    chances: tuple[Finding, ...] = ()
    endless: Exhausted | None = None


class Witness:
    """Evidence about a task's calls, which run again in a simulator. `plan_of` returns a case's plan for the simulator,
    None if there is none; `source` is the student's file."""

    def __init__(
        self, assignment: Assignment, source: str, simulation: Simulation, plan_of: Callable[[Case], Plan | None]
    ) -> None:
        self._assignment = assignment
        self._source = source
        self._simulation = simulation
        self._plan_of = plan_of
        self._left = MOST_CASES
        self._masked = self._tuned = self._raced = False
        self._apart = simulation.under(Allowance(UNORDERED_SECONDS))
        self._elsewhere = 0
        # Small cases may be right by their size, as where one program holds all: the largest is always run again.
        self._largest = max(assignment.cases_for("cpu"), key=lambda one: prod(one.sizes.values()), default=None)
        # The cases that came out right in another order, too, by kernel and line of what has an order.
        self._steady: dict[tuple[str, int], set[str]] = {}
        self._foreseeing = threading.Lock()
        self._foreseen: dict[str, list[Foreseen]] = {}

    def seen(
        self, case: Case, inputs: Sequence[Inputs], watch: Watch | None = None, output: str = ""
    ) -> Ran | None:
        """Return a simulator's view of calls; None if it cannot run them. A `watch` concerns one `output`."""
        plan = self._plan_of(case)
        if plan is None or len(plan.calls()) < len(inputs):
            return None
        assignment = self._assignment.about(output) if output else self._assignment
        ran = self._simulation.run(assignment, case, plan, inputs, Manner(watch=watch))
        return ran if isinstance(ran, Ran) else None

    def foreseen(
        self, case: Case, call: int, inputs: Callable[[int], list[Inputs]],
        compared: Callable[[Ran, Inputs], Compared],
    ) -> Foreseen:
        """Return a simulator's view of a call. The first request runs all calls of a case, in whichever thread.
        `inputs` returns the contents of the calls up to a number."""
        plan = self._plan_of(case)
        if plan is None:
            return Foreseen()
        with self._foreseeing:
            if case.name not in self._foreseen:
                self._foreseen[case.name] = [
                    self._foresee(case, plan, inputs(number), compared) for number in range(len(plan.calls()))]
            return self._foreseen[case.name][call]

    def _foresee(
        self, case: Case, plan: Plan, inputs: list[Inputs], compared: Callable[[Ran, Inputs], Compared]
    ) -> Foreseen:
        seen = self._simulation.run(self._assignment, case, plan, inputs)
        if not isinstance(seen, Ran):
            return Foreseen(endless=seen if isinstance(seen, Exhausted) and seen.what != "memory" else None)
        if not compared(seen, inputs[-1]).passed:
            return Foreseen(seen)
        return Foreseen(seen, True, tuple(self.chances(case, plan, inputs, seen, compared)))

    def chances(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran,
        compared: Callable[[Ran, Inputs], Compared],
    ) -> list[Finding]:
        """Return undefined behaviour on which a right answer rests. The call runs again, in other manners, if there may
        be some. `ran` is the plain run."""
        def right(other: Ran) -> bool:
            return compared(other, inputs[-1]).passed

        found = [*self.reordered(case, plan, inputs, ran, right), *self.tuned(case, plan, inputs, ran, right),
                 *self.unordered(case, plan, inputs, ran, right)]
        if any(languages.of(kernel).lowers_to for kernel in plan.kernels):
            return [*found, *self.masked(case, plan, inputs, ran)]
        # Other kernels are simulated as the machine's own text.
        return [*found, *self.elsewhere(case, plan, inputs, ran, right)]

    def elsewhere(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran, right: Callable[[Ran], bool]
    ) -> list[Finding]:
        """Return undefined behaviour on which a right answer rests: the answer is wrong on another device, which
        differs in what no device promises. MOST_ELSEWHERE cases are tried, and every case with a finding of such a
        kind."""
        known = any(isinstance(one, Undefined) and one.what in ELSEWHERE.values() for one in ran.findings)
        few = max(output.numel() for output in ran.outputs.values()) < LEAST_ELEMENTS
        if not known and (few or self._elsewhere >= MOST_ELSEWHERE):
            return []

        def wrong(*ways: Elsewhere, lines: Sequence[int] = ()) -> list[Finding] | None:
            other = self._simulation.run(
                self._assignment, case, plan, inputs, Manner(elsewhere=list(ways), erring=list(lines)))
            if isinstance(other, Ran) and not right(other):
                return list(other.findings)
            return [] if isinstance(other, Exhausted) and other.what in ("stalled", "unmet", "endless") else None

        self._elsewhere += 1
        if wrong(*ELSEWHERE) is None:
            return []
        kernel = plan.kernels[0]
        for way, what in ELSEWHERE.items():
            if (found := wrong(way)) is not None:
                named = [one for one in found if isinstance(one, Undefined) and one.what == what and one.line]
                unwritten = next((one for one in ran.findings if isinstance(one, Unwritten)), None)
                if way == "bits" and not named and unwritten is not None:
                    return [_chance(unwritten)]
                alone = [one for one in named if way == "errors" and wrong(way, lines=[one.line]) is not None]
                first = next(iter(alone or named), Undefined(what=what, kernel=kernel.name, line=kernel.line))
                return [first.model_copy(update={"certain": True})]
        return []

    def masked(self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran) -> list[Finding]:
        """Return loads on whose masked lanes a right answer rests. Only one public case is tried."""
        if self._masked or case.hidden or ran.one_element:
            return []
        self._masked = True

        def used(lines: list[int]) -> list[Finding]:
            other = self._simulation.run(self._assignment, case, plan, inputs, Manner(masked=lines))
            if not isinstance(other, Ran) or other.same_answer(ran):
                return []
            return [one for one in other.findings if isinstance(one, MaskedUsed)]

        found = used([])
        lines = list(dict.fromkeys(one.line for one in found))[:MOST_LINES]
        # Each of several loads is tried alone. Where only several together change the answer, all are blamed.
        return [one for line in lines for one in used([line])] or found if len(lines) > 1 else found

    def reordered(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran, right: Callable[[Ran], bool]
    ) -> list[Finding]:
        """Return findings on which a right answer rests: the answer is wrong in another allowed order of lanes,
        elements or programs, or if loads that nothing orders come early. Cases with such findings run again, until
        MOST_ORDERS of them came out right either way."""
        found: list[Unwritten | Race | Undefined] = [
            one for one in ran.findings if isinstance(one, Unwritten) or (isinstance(one, Race) and not one.certain)
            or (isinstance(one, Undefined) and not one.certain and one.what not in ELSEWHERE.values())]
        steady = [self._steady.setdefault((one.kernel, one.line), set()) for one in found]
        known = case != self._largest and all(
            len(cases) >= MOST_ORDERS and case.name not in cases for cases in steady)
        if not found or known or ran.one_element or not right(ran):
            return []

        def wrong(order: list[int] | None, early: Sequence[int] = (), unwritten: int = 0) -> bool:
            other = self._simulation.run(self._assignment, case, plan, inputs, Manner(
                order=order, early=list(early), unwritten=unwritten))
            return isinstance(other, Ran) and not right(other)

        unordered = [one for one in found if isinstance(one, Undefined) and one.what == "unordered"]
        # Zeros, then large numbers.
        bytes_ = (0, LARGE) if any(isinstance(one, Unwritten) for one in found) else (0,)
        byte = next((one for one in bytes_ if wrong([], unwritten=one)), None)
        if byte is None:
            early = {one.line: one.model_copy(update={"certain": True}) for one in unordered}
            for turned in ([], [0]) if early else ():
                if wrong(None, [*turned, *early]):
                    blamed = [one for line, one in early.items() if len(early) == 1 or wrong(None, [*turned, line])]
                    return list(blamed or early.values())
            for cases in steady:
                cases.add(case.name)
            return []
        found = [one for one in found if one not in unordered] or found
        chances: dict[int, Undefined] = {}
        for one in sorted(map(_chance, found), key=lambda one: one.what == "ticket"):
            chances.setdefault(0 if one.what in ("programs", "ticket") else one.line, one)
        blamed = [one for line, one in list(chances.items())[:MOST_LINES]
                  if len(chances) == 1 or wrong([line], unwritten=byte)]
        # If only several of them together change the answer, all are blamed.
        return list(blamed or chances.values())

    def tuned(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran, right: Callable[[Ran], bool]
    ) -> list[Finding]:
        """Return findings about kernels that add to what an autotuner's other configurations have left. Only one first
        call is tried."""
        tuners = {tuner.kernel: tuner for tuner in plan.tuners if not tuner.resets}
        twice = [number for number, kernel in enumerate(plan.kernels)
                 if kernel.name in tuners and _changes(kernel.name, ran.accesses)]
        if not twice or self._tuned or len(inputs) > 1 or ran.one_element:
            return []
        self._tuned = True
        other = self._simulation.run(self._assignment, case, plan, inputs, Manner(twice=twice))
        if not isinstance(other, Ran) or right(other):
            return []
        return [Undefined(what="tuner", kernel=plan.kernels[number].name, line=plan.kernels[number].line)
                for number in twice]

    def unordered(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran, right: Callable[[Ran], bool]
    ) -> list[Finding]:
        """Return two operations that no stream, event or wait orders, if the answer depends on their order. After one
        such finding no further one is sought."""
        if self._raced or case.hidden:
            return []

        def wrong(other: Plan) -> bool:
            again = self._apart.run(self._assignment, case, other, inputs)
            return isinstance(again, Ran) and not right(again)

        found = unordered(plan, len(inputs) - 1, ran.accesses, wrong)
        self._raced = found is not None
        return [] if found is None else [found]

    def placed(
        self, detail: Detail, case: Case, inputs: Sequence[Inputs], answer: Compared, findings: Sequence[Finding]
    ) -> Detail:
        """Return the detail with the line that evidence names: the line of the finding that explains the answer, else
        the one store that wrote all wrong elements. No line is named if several stores did."""
        comparison = answer.chosen
        if detail.place is not None or comparison.passed or answer.about in case.strides:
            return detail
        # The order is that of `explain.operations.BESIDE`.
        for kind in (EmptyGrid, Recast, Unwritten, Overflow, Race, MaskedUsed):
            for one in findings:
                if isinstance(one, kind):
                    return detail.model_copy(update={"place": place(self._assignment, self._source, one.line)})
        wrong = (comparison.wrong & ~comparison.unwritten).flatten().nonzero().flatten()
        if not wrong.numel() or not 1 < comparison.total <= MOST_ELEMENTS or not self._left:
            return detail
        self._left -= 1
        chosen = wrong.tolist()
        if len(chosen) > WATCHED:
            # Chosen at random, since even steps would miss one of two stores that take turns; with the first, which a
            # message names.
            chosen = sorted({chosen[0], *random.Random(0).sample(chosen, WATCHED - 1)})
        size = comparison.got.itemsize
        ran = self.seen(case, inputs, Watch(stores=[size * element for element in chosen]), answer.about)
        stored = ran.stored if ran is not None else ()
        found = place(self._assignment, self._source, stored[0].line) if stored else None
        if found is None or len(stored) > 1 or stored[0].elements < len(chosen):
            return detail
        first = element(answer.about, stored[0].byte // size, comparison.got.shape)
        found.seen = say(phrases_of(self._assignment, self._source), fact(
            "witness", element=first, id=program(stored[0].program, stored[0].last)))
        return detail.model_copy(update={"place": found})


def _chance(found: Race | Undefined | Unwritten) -> Undefined:
    """Return a finding as undefined behaviour on which the answer was seen to rest."""
    if isinstance(found, Undefined):
        return found.model_copy(update={"certain": True})
    if isinstance(found, Unwritten):
        return Undefined(what="fresh", kernel=found.kernel, line=found.line, tensor=found.tensor)
    return Undefined(what="programs", kernel=found.kernel, line=found.line, tensor=found.tensor, given=found.given,
                     element=found.element, programs=list(found.programs))


def _changes(kernel: str, accesses: Sequence[Access]) -> bool:
    """Return whether a kernel reads a buffer that it also writes."""
    own = [one for one in accesses if one.kernel == kernel]
    return any(one.access == "atomic" for one in own) or bool(
        {one.buffer for one in own if one.access == "load"} & {one.buffer for one in own if one.access == "store"})
