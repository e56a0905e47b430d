"""Facts about the structure of a right submission's kernels, for the conditions that a course has switched on.

Kernels run as PTX, thread by thread, at each timed case. The run is a sample where one can be taken: programs that
nobody can foretell, on inputs like those of any case, and what they store is compared with the right answer. Otherwise
random programs run on zeros. A condition has to be met in all timed cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod

from grader import languages
from grader.course.cases import Case, dtype_of, shape_of
from grader.course.parameters import Input, Output, Scalar, Update
from grader.judging.evidence.blocks import Unseen
from grader.judging.evidence.inspection import inspection_of
from grader.judging.evidence.sampling import Sample, Settled
from grader.judging.explain.wording import phrases_of, say
from grader.judging.plans.lowered import CannotLower, lowered
from grader.judging.prepared import Prepared
from grader.judging.running.allowance import Allowance
from grader.judging.running.buffers import DTYPES
from grader.judging.running.simulation import Simulation
from grader.languages.phrases import Fact, fact
from grader.plan.messages import CannotSimulate, Simulated, kernel_key
from grader.plan.plan import Kernel, Launch, Plan
from grader.plan.traffic import LaunchTraffic, Watch
from grader.results.launched import LaunchFacts
from grader.results.structure import CaseFacts
from grader.sandbox.forkserver.conversation import Lost
from grader.sandbox.forkserver.handle import InfrastructureError

# Programs of each launch that run where no sample can be taken, and of one that multiplies tiles and is cut anyhow.
PROGRAMS, FEW = 16, 2
# Element operations of such runs, and seconds of all together.
OPERATIONS, CUT = 80_000_000, 40_000_000
SECONDS = 20.0


def look_at_structure(prepared: Prepared) -> list[CaseFacts | str]:
    """Return the facts of each timed case, or the reason why there are none. Raises InfrastructureError."""
    return _Look(prepared).facts()


def launched_as_ptx(prepared: Prepared, case: Case, plan: Plan) -> list[LaunchFacts]:
    """Return the launches of a plan's first call, run as PTX; none if that is not possible. Raises
    InfrastructureError."""
    try:
        return _Look(prepared).facts_of(case, plan).launched.launches
    except _Unseen:
        return []


class _Unseen(Exception):
    """A run that shows nothing, and the reason `why`."""

    def __init__(self, why: Fact) -> None:
        super().__init__()
        self.why = why


class _Look:
    def __init__(self, prepared: Prepared) -> None:
        self.prepared, self.assignment = prepared, prepared.task.assignment
        self.preparing, self.words = prepared.preparing, phrases_of(self.assignment, prepared.task.text)
        self.language = self.assignment.front_end.lowers_to
        self.allowance = Allowance(SECONDS)

    def facts(self) -> list[CaseFacts | str]:
        plans = self.prepared.plan().plans
        found: list[CaseFacts | str] = []
        for case in self.assignment.timed:
            plan = plans.get(case.name)
            assert isinstance(plan, Plan)
            try:
                found.append(self.facts_of(case, plan))
            except _Unseen as unseen:
                found.append(say(self.words, unseen.why))
        return found or [say(self.words, fact("structure.untimed"))]

    def facts_of(self, case: Case, plan: Plan) -> CaseFacts:
        by_key = {kernel_key(kernel): kernel for kernel in plan.kernels}
        code = self.preparing.code([*by_key.values()])
        if not isinstance(code, list):
            raise _Unseen(fact("structure.uncompiled", case=case.name, target=self.preparing.target))
        launches = [one for one in plan.first if isinstance(one, Launch)]
        why, launched = "", list[LaunchTraffic]()
        try:
            launched = self._run(case, self._as_ptx(case, plan), plan.kernels)
        except _Unseen as unseen:
            # The plan and the compiler show some things without a run.
            why = say(self.words, unseen.why)
            launched = [LaunchTraffic(kernel=one.kernel, line=one.line, grid=one.grid, threads=one.threads, programs=0,
                                      accesses=[]) for one in launches]
        inspection = inspection_of(
            self.assignment, case, plan, launched, dict(zip(by_key, code, strict=True)), self.preparing.target)
        tensors = [(one, prod(shape_of(one, case)) * DTYPES[dtype_of(one, case)].itemsize)
                   for one in self.assignment.parameters if not isinstance(one, Scalar)]
        on_host = frozenset(one.name for one, _ in tensors if isinstance(one, Input) and one.place == "host")
        host = 0 if self.assignment.work is None else int(self.assignment.work(case).host_bytes)
        return CaseFacts(
            inspection,
            inputs={one.name: size for one, size in tensors if isinstance(one, Input | Update)
                    and one.name not in on_host},
            outputs={one.name: size for one, size in tensors if isinstance(one, Output | Update)},
            host=host or sum(size for one, size in tensors if one.name in on_host), on_host=on_host,
            lines=tuple(one.line for one in launches), why=why)

    def _as_ptx(self, case: Case, plan: Plan) -> Plan:
        """Return a plan whose kernels are PTX. Raises _Unseen, InfrastructureError."""
        if not self.language or any(kernel.language == self.language for kernel in plan.kernels):
            return plan
        by_key = {kernel_key(kernel): kernel for kernel in plan.kernels}
        binaries = self.preparing.lowered(by_key, self.preparing.target)
        if binaries.keys() != by_key.keys():
            raise _Unseen(fact("structure.long", case=case.name))
        try:
            return lowered(plan, binaries, self.language)
        except CannotLower as error:
            raise _Unseen(fact("structure.unknown", case=case.name, why=str(error))) from None

    def _run(self, case: Case, plan: Plan, kernels: Sequence[Kernel]) -> list[LaunchTraffic]:
        """Return the traffic of a call's launches. Raises _Unseen, InfrastructureError."""
        simulation = Simulation(
            self.preparing, self.language, operations=OPERATIONS, seconds=SECONDS, allowance=self.allowance,
            station=self.prepared.simulating)
        task, draws = self.prepared.task, self.prepared.draws
        # Programs that multiply large tiles take too long to be run to their ends.
        whole = not any("product" in languages.of(kernel).traits(kernel) for kernel in kernels)
        try:
            sample = Sample(self.assignment.views()[0], case, plan, simulation, draws, task.text, 0, warps=True)
            with suppress(Unseen, Settled):
                look = sample.look() if whole else None
                if look is not None and look.detail is not None:
                    raise _Unseen(fact("compiled", case=case.name, message=look.detail.message))
                if look is not None:
                    return sample.launched
            if not sample.launches:
                return []
            random = draws.random(case, "structure")
            most = PROGRAMS if whole else FEW
            chosen = [sorted(random.sample(range(total), min(total, most))) for total in sample.totals]
            # Host code's copies and fills change no count, and take long.
            plan = plan.model_copy(update={"first": sample.launches})
            reply = simulation.inspect(
                self.assignment, plan, Watch(chosen=chosen, warps=True), operations=OPERATIONS if whole else CUT)
        finally:
            simulation.end()
        if isinstance(reply, Simulated):
            return reply.launched
        if isinstance(reply, Lost) and reply.kind in ("crash", "protocol"):
            raise InfrastructureError(f"a simulator ended while it counted: {reply.message}")
        why = reply.operation if isinstance(reply, CannotSimulate) else fact("structure.slow")
        raise _Unseen(fact("structure.unknown", case=case.name, why=why))
