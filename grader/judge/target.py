"""What a GPU would make of a submission's plans, whether there is one here or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader import frontends
from grader.engine.forkserver.conversation import Lost
from grader.frontends import FrontEnd
from grader.judge.explain import explain_assembly
from grader.judge.inputs import Draws
from grader.judge.large import Look, look_at_large
from grader.judge.planning import Unplanned
from grader.judge.preparing import Preparing, kernels_of
from grader.judge.rules import foreign
from grader.judge.simulation import Simulation
from grader.model.assignment import Assignment, Case
from grader.model.result import Detail
from grader.plan.compiled import Binary, Problem
from grader.plan.messages import kernel_key
from grader.plan.plan import Plan


@dataclass(frozen=True)
class Trouble:
    """Why a case cannot run on the target; `case` is "" where none is meant alone."""

    case: str
    what: Detail | Problem | Lost


class Target:
    """The plans of one attempt, by their cases' names, as the device sees them that they are prepared for."""

    def __init__(self, assignment: Assignment, plans: Mapping[str, Plan | Unplanned], preparing: Preparing) -> None:
        self._timed = {case.name for case in assignment.timed}
        self._assignment = assignment
        self._plans = {name: plan for name, plan in plans.items() if isinstance(plan, Plan)}
        self._preparing = preparing

    def look_at_large(
        self, cases: Sequence[Case], simulation: Simulation, draws: Draws, source: str
    ) -> list[Look]:
        """What a simulator sees of cases that it cannot run whole, of several of the same sizes of the first. Raises
        InfrastructureError."""
        by_sizes: dict[tuple[int, ...], Case] = {}
        for case in cases:
            by_sizes.setdefault(tuple(case.sizes.values()), case)
        return [look_at_large(self._assignment, case, self._plans[case.name], simulation, draws, source)
                for case in by_sizes.values() if case.name in self._plans]

    def trouble(self, *, refuse: bool) -> Trouble | None:
        """The first case that the device cannot start, or that has foreign code where that is to `refuse`. Raises
        InfrastructureError."""
        timed = kernels_of(self._plans[name] for name in self._timed & self._plans.keys())
        lost = self._preparing.fit(timed, kernels_of(self._plans.values()))
        if lost is not None:
            return Trouble("", lost)
        for name, plan in self._plans.items():
            for kernel in plan.kernels:
                if (problem := self._preparing.misfit(kernel)) is not None:
                    return Trouble(name, problem)
            if refuse and (found := self.foreign([name])):
                return Trouble(name, found[0])
        return None

    def foreign(self, cases: Iterable[str]) -> list[Detail]:
        """What kernels of these cases use beyond their language, once for each kernel."""
        found: dict[tuple[str, FrontEnd], list[str]] = {}
        for name in cases:
            for kernel, one in foreign(self._plans[name]) if name in self._plans else ():
                found.setdefault((kernel.name, frontends.of(kernel)), []).append(one.text)
        return [explain_assembly(kernel, list(dict.fromkeys(names)), language)
                for (kernel, language), names in found.items()]

    def code(self) -> dict[str, Binary]:
        """Machine code of the kernels that are timed, by their keys, after a look for `trouble` that found none."""
        kernels = kernels_of(self._plans[name] for name in self._timed & self._plans.keys())
        found = self._preparing.binaries(kernels)
        assert isinstance(found, list)
        return {kernel_key(kernel): one for kernel, one in zip(kernels, found, strict=True) if isinstance(one, Binary)}
