"""Evidence from simulated calls: the line where a call goes wrong, and latent faults, undefined behaviour on which a
right answer rests."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from grader import languages
from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.answers.answers import AnswerComparisons
from grader.judging.evidence.streams import unordered
from grader.judging.explain.wording import element, phrases_of, place, program, say
from grader.judging.running.simulation import CallResult, Simulation
from grader.judging.running.time_budget import TimeBudget
from grader.languages.phrases import fact
from grader.plan.findings import (
    Access,
    EmptyGrid,
    Finding,
    MaskedUse,
    Overflow,
    Race,
    Recast,
    Undefinable,
    UndefinedBehaviour,
    UnwrittenAccess,
)
from grader.plan.messages import EVERYWHERE, PROGRAMS, Deviation, Exhausted, RunOptions, Where
from grader.plan.plan import Plan
from grader.plan.traffic import LastStores, Watch
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
MOST_DEVIATING, LEAST_ELEMENTS = 2, 32
LARGE = 0x5A
"""The byte of which numbers are large, in each type."""
UNORDERED_SECONDS = 10.0
"""Seconds for other orders of operations, which are not charged to the submission."""
DEVIATIONS: dict[Deviation, tuple[Undefinable, ...]] = {
    "bits": ("unset",), "places": ("places",), "lanes": ("inactive", "index"), "errors": ("approximate",)}


@dataclass(frozen=True)
class SimulatedView:
    """A simulator's view of a call that a GPU runs as well: `result` is None if the simulator cannot run the
    call, and `right` whether its answer is. `latent_faults` is undefined behaviour on which a right answer rests.
    `endless` is set if the call took too long or does not end."""

    result: CallResult | None = None
    right: bool = False
    latent_faults: tuple[Finding, ...] = ()
    endless: Exhausted | None = None


class SimulatorEvidence:
    """Evidence about a task's calls, which a simulator runs again. `plan_of` returns a case's plan for the simulator,
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
        self._uncharged = simulation.under(TimeBudget(UNORDERED_SECONDS))
        self._deviating = 0
        # Small cases may be right by their size, as where one program holds all: the largest is always run again.
        self._largest = max(assignment.cases_for("cpu"), key=lambda case: prod(case.sizes.values()), default=None)
        # The cases that came out right in another order, too, by kernel and line of what has an order.
        self._steady: dict[tuple[str, int], set[str]] = {}
        self._viewing = threading.Lock()
        self._views: dict[str, list[SimulatedView]] = {}

    def simulated_view(
        self, case: Case, call: int, inputs: Callable[[int], list[Inputs]],
        compared: Callable[[CallResult, Inputs], AnswerComparisons],
    ) -> SimulatedView:
        """Return a call as a simulator sees it. The first request runs all calls of a case, in whichever thread.
        `inputs` returns the contents of the calls up to a number."""
        plan = self._plan_of(case)
        if plan is None:
            return SimulatedView()
        with self._viewing:
            if case.name not in self._views:
                self._views[case.name] = [
                    self._simulated_view(case, plan, inputs(number), compared) for number in range(len(plan.calls()))]
            return self._views[case.name][call]

    def _simulated_view(
        self, case: Case, plan: Plan, inputs: list[Inputs], compared: Callable[[CallResult, Inputs], AnswerComparisons]
    ) -> SimulatedView:
        seen = self._simulation.run(self._assignment, case, plan, inputs)
        if not isinstance(seen, CallResult):
            return SimulatedView(endless=seen if isinstance(seen, Exhausted) and seen.what != "memory" else None)
        if not compared(seen, inputs[-1]).passed:
            return SimulatedView(seen)
        return SimulatedView(seen, True, tuple(self.latent_faults(case, plan, inputs, seen, compared)))

    def latent_faults(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult,
        compared: Callable[[CallResult, Inputs], AnswerComparisons],
    ) -> list[Finding]:
        """Return undefined behaviour on which a right answer rests. The call runs again, with other options, if there
        may be some. `result` is the plain run."""
        def right(answer: CallResult) -> bool:
            return compared(answer, inputs[-1]).passed

        findings = [*self.reordered(case, plan, inputs, result, right), *self.tuned(case, plan, inputs, result, right),
                    *self.unordered(case, plan, inputs, result, right)]
        if any(languages.of(kernel).lowers_to for kernel in plan.kernels):
            return [*findings, *self.masked(case, plan, inputs, result)]
        # Other kernels are simulated as the machine's own text.
        return [*findings, *self.on_another_device(case, plan, inputs, result, right)]

    def on_another_device(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult, right: Callable[[CallResult], bool]
    ) -> list[Finding]:
        """Return undefined behaviour on which a right answer rests: the answer is wrong on another device, which
        differs in what no device promises. MOST_DEVIATING cases are tried, and every case with a finding of such a
        kind."""
        known = any(isinstance(finding, UndefinedBehaviour)
                    and any(finding.what in kinds for kinds in DEVIATIONS.values())
                    for finding in result.findings)
        few = max(output.numel() for output in result.outputs.values()) < LEAST_ELEMENTS
        if not known and (few or self._deviating >= MOST_DEVIATING):
            return []

        def wrong(*ways: Deviation, lines: Sequence[int] = ()) -> list[Finding] | None:
            ran = self._simulation.run(
                self._assignment, case, plan, inputs, RunOptions(deviations=list(ways), erring=list(lines)))
            if isinstance(ran, CallResult) and not right(ran):
                return list(ran.findings)
            return [] if isinstance(ran, Exhausted) and ran.what in ("stalled", "unmet", "endless") else None

        self._deviating += 1
        if wrong(*DEVIATIONS) is None:
            return []
        kernel = plan.kernels[0]
        for way, kinds in DEVIATIONS.items():
            if (wrong_findings := wrong(way)) is not None:
                named = [finding for finding in wrong_findings
                         if isinstance(finding, UndefinedBehaviour) and finding.what in kinds and finding.line]
                unwritten = [finding for finding in result.findings if isinstance(finding, UnwrittenAccess)]
                if way == "bits" and not named and unwritten:
                    return list(_latent_faults(unwritten[:1]))
                alone = [finding for finding in named
                         if way == "errors" and wrong(way, lines=[finding.line]) is not None]
                nowhere = UndefinedBehaviour(what=kinds[0], kernel=kernel.name, line=kernel.line)
                first = next(iter(alone or named), nowhere)
                return [first.model_copy(update={"certain": True})]
        return []

    def masked(self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult) -> list[Finding]:
        """Return loads on whose masked lanes a right answer rests. Only one public case is tried."""
        if self._masked or case.hidden or result.one_element:
            return []
        self._masked = True

        def used(where: Where) -> list[Finding]:
            ran = self._simulation.run(self._assignment, case, plan, inputs, RunOptions(masked=where))
            if not isinstance(ran, CallResult) or ran.same_answer(result):
                return []
            return [finding for finding in ran.findings if isinstance(finding, MaskedUse)]

        findings = used(EVERYWHERE)
        lines = list(dict.fromkeys(finding.line for finding in findings))[:MOST_LINES]
        # Each of several loads is tried alone. Where only several together change the answer, all are blamed.
        alone = [finding for line in lines for finding in used(Where(lines=[line]))] if len(lines) > 1 else []
        return alone or findings

    def reordered(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult, right: Callable[[CallResult], bool]
    ) -> list[Finding]:
        """Return findings on which a right answer rests: the answer is wrong in another allowed order of lanes,
        elements or programs, or if loads that nothing orders come early. Cases with such findings run again, until
        MOST_ORDERS of them came out right either way."""
        faults = _latent_faults(result.findings)
        steady = [self._steady.setdefault((fault.kernel, fault.line), set()) for fault in faults]
        known = case != self._largest and all(
            len(cases) >= MOST_ORDERS and case.name not in cases for cases in steady)
        if not faults or known or result.one_element or not right(result):
            return []

        def wrong(options: RunOptions) -> bool:
            ran = self._simulation.run(self._assignment, case, plan, inputs, options)
            return isinstance(ran, CallResult) and not right(ran)

        for together, alone in _tries(faults):
            if wrong(together):
                blamed = [fault for fault, options in alone[:MOST_LINES] if len(alone) == 1 or wrong(options)]
                # If only several of them together change the answer, all are blamed.
                return list(blamed or (fault for fault, _ in alone))
        for cases in steady:
            cases.add(case.name)
        return []

    def tuned(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult, right: Callable[[CallResult], bool]
    ) -> list[Finding]:
        """Return findings about kernels that add to what an autotuner's other configurations have left. Only one first
        call is tried."""
        tuners = {tuner.kernel: tuner for tuner in plan.tuners if not tuner.resets}
        twice = [number for number, kernel in enumerate(plan.kernels)
                 if kernel.name in tuners and _changes(kernel.name, result.accesses)]
        if not twice or self._tuned or len(inputs) > 1 or result.one_element:
            return []
        self._tuned = True
        ran = self._simulation.run(self._assignment, case, plan, inputs, RunOptions(twice=twice))
        if not isinstance(ran, CallResult) or right(ran):
            return []
        return [UndefinedBehaviour(what="tuner", kernel=plan.kernels[number].name, line=plan.kernels[number].line)
                for number in twice]

    def unordered(
        self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult, right: Callable[[CallResult], bool]
    ) -> list[Finding]:
        """Return two operations that no stream, event or wait orders, if the answer depends on their order. After one
        such finding no further one is sought."""
        if self._raced or case.hidden:
            return []

        def wrong(reordered_plan: Plan) -> bool:
            again = self._uncharged.run(self._assignment, case, reordered_plan, inputs)
            return isinstance(again, CallResult) and not right(again)

        finding = unordered(plan, len(inputs) - 1, result.accesses, wrong)
        self._raced = finding is not None
        return [] if finding is None else [finding]

    def with_line(
        self, detail: Detail, case: Case, inputs: Sequence[Inputs], answer: AnswerComparisons,
        findings: Sequence[Finding],
    ) -> Detail:
        """Return the detail with the line that evidence names: the line of the finding that explains the answer, else
        the one store that wrote all wrong elements. No line is named if several stores did."""
        comparison = answer.chosen
        if detail.place is not None or comparison.passed or answer.about in case.strides:
            return detail
        # The order is that of `explain.operations.BESIDE`.
        for kind in (EmptyGrid, Recast, UnwrittenAccess, Overflow, Race, MaskedUse):
            for finding in findings:
                if isinstance(finding, kind):
                    return detail.model_copy(update={"place": place(self._assignment, self._source, finding.line)})
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
        plan, stored = self._plan_of(case), tuple[LastStores, ...]()
        if plan is not None and len(plan.calls()) >= len(inputs):
            watch = Watch(stores=[size * element for element in chosen])
            ran = self._simulation.run(
                self._assignment.about(answer.about), case, plan, inputs, RunOptions(watch=watch))
            stored = ran.stored if isinstance(ran, CallResult) else ()
        store = place(self._assignment, self._source, stored[0].line) if stored else None
        if store is None or len(stored) > 1 or stored[0].elements < len(chosen):
            return detail
        first = element(answer.about, stored[0].byte // size, comparison.got.shape)
        store.seen = say(phrases_of(self._assignment, self._source), fact(
            "witness", element=first, id=program(stored[0].program, stored[0].last)))
        return detail.model_copy(update={"place": store})


def _latent_faults(findings: Sequence[Finding]) -> list[UndefinedBehaviour]:
    """Return findings that leave an answer open, as the undefined behaviour on which it rests if it changes."""
    faults = []
    for finding in findings:
        match finding:
            case UnwrittenAccess():
                faults.append(UndefinedBehaviour(
                    what="fresh", kernel=finding.kernel, line=finding.line, tensor=finding.tensor))
            case Race(certain=False):
                faults.append(UndefinedBehaviour(
                    what="programs", kernel=finding.kernel, line=finding.line, tensor=finding.tensor,
                    given=finding.given, element=finding.element, programs=list(finding.programs)))
            case UndefinedBehaviour(certain=False) if all(finding.what != kinds[0] for kinds in DEVIATIONS.values()):
                faults.append(finding.model_copy(update={"certain": True}))
    return faults


def _tries(
    faults: Sequence[UndefinedBehaviour],
) -> Iterator[tuple[RunOptions, list[tuple[UndefinedBehaviour, RunOptions]]]]:
    """Yield the runs that may show which of the faults an answer rests on: the options of a run, and each fault that
    it may show, with options that try this one alone."""
    loads = {fault.line: fault for fault in faults if fault.what == "unordered"}
    # One fault for each line, and one for the order of programs, whatever shows that it matters.
    orders: dict[int, UndefinedBehaviour] = {}
    others = [fault for fault in faults if fault.what != "unordered"] or faults
    for fault in sorted(others, key=lambda fault: fault.what == "ticket"):
        orders.setdefault(0 if fault.what in ("programs", "ticket") else fault.line, fault)
    # Zeros, then large numbers.
    for byte in (0, LARGE) if any(fault.what == "fresh" for fault in faults) else (0,):
        yield RunOptions(order=EVERYWHERE, unwritten=byte), [
            (fault, RunOptions(unwritten=byte) if fault.what == "fresh"
             else RunOptions(order=Where(lines=[line]) if line else PROGRAMS)) for line, fault in orders.items()]
    for programs in (False, True) if loads else ():
        yield RunOptions(early=Where(lines=[*loads], programs=programs)), [
            (fault, RunOptions(early=Where(lines=[line], programs=programs))) for line, fault in loads.items()]


def _changes(kernel: str, accesses: Sequence[Access]) -> bool:
    """Return whether a kernel reads a buffer that it also writes."""
    own = [access for access in accesses if access.kernel == kernel]
    return any(access.access == "atomic" for access in own) or bool(
        {access.buffer for access in own if access.access == "load"}
        & {access.buffer for access in own if access.access == "store"})
