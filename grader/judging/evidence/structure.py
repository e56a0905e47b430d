"""Facts about the structure of a right submission's kernels, for the conditions that a course has switched on.

Kernels run as PTX, thread by thread, at each timed case. The run is a sample where one can be taken: random programs
run on inputs like any case's, and their stores are compared with the right answer. Otherwise random programs
run on zeros. A condition has to be met in all timed cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod

from grader import languages
from grader.course.cases import Case, dtype_of, shape_of
from grader.course.parameters import Input, Output, Scalar, Update
from grader.errors import InfrastructureError
from grader.judging.evidence.blocks import SamplingError
from grader.judging.evidence.inspection import inspection_of
from grader.judging.evidence.sampling import Sample, SampleEnd
from grader.judging.explain.wording import phrases_of, say
from grader.judging.plans.lowered import CannotLower, lowered
from grader.judging.prepared import PreparedTask
from grader.judging.running.buffers import DTYPES
from grader.judging.running.simulation import Simulation
from grader.judging.running.time_budget import TimeBudget
from grader.languages.phrases import Fact, fact
from grader.plan.messages import CannotSimulate, Simulated, kernel_key
from grader.plan.plan import Kernel, Launch, Plan
from grader.plan.traffic import LaunchTraffic, Watch
from grader.results.launched import LaunchFacts
from grader.results.structure import CaseFacts
from grader.sandbox.forkserver.conversation import LostAnswer

# Programs of each launch that run where no sample can be taken, and of one that multiplies tiles and is cut anyhow.
PROGRAMS, FEW = 16, 2
# Element operations of such runs, and seconds of all together.
OPERATIONS, CUT = 80_000_000, 40_000_000
SECONDS = 20.0


def structure_facts(prepared: PreparedTask) -> list[CaseFacts | str]:
    """Return the facts of each timed case, or the reason why there are none. Raises InfrastructureError."""
    return _StructureRun(prepared).facts()


def launched_as_ptx(prepared: PreparedTask, case: Case, plan: Plan) -> list[LaunchFacts]:
    """Return the launches of a plan's first call, run as PTX; none if that is not possible. Raises
    InfrastructureError."""
    try:
        return _StructureRun(prepared).facts_of(case, plan).launched.launches
    except _NoFacts:
        return []


class _NoFacts(Exception):
    """A run that shows nothing, and the reason `why`."""

    def __init__(self, why: Fact) -> None:
        super().__init__()
        self.why = why


class _StructureRun:
    def __init__(self, prepared: PreparedTask) -> None:
        self.prepared, self.assignment = prepared, prepared.task.assignment
        self.toolchain, self.words = prepared.toolchain, phrases_of(self.assignment, prepared.task.text)
        self.language = self.assignment.front_end.lowers_to
        self.budget = TimeBudget(SECONDS)

    def facts(self) -> list[CaseFacts | str]:
        plans = self.prepared.plan().plans
        facts: list[CaseFacts | str] = []
        for case in self.assignment.timed:
            plan = plans.get(case.name)
            assert isinstance(plan, Plan)
            try:
                facts.append(self.facts_of(case, plan))
            except _NoFacts as no_facts:
                facts.append(say(self.words, no_facts.why))
        return facts or [say(self.words, fact("structure.untimed"))]

    def facts_of(self, case: Case, plan: Plan) -> CaseFacts:
        by_key = {kernel_key(kernel): kernel for kernel in plan.kernels}
        code = self.toolchain.code([*by_key.values()])
        if not isinstance(code, list):
            raise _NoFacts(fact("structure.uncompiled", case=case.name, target=self.toolchain.target))
        launches = [operation for operation in plan.first if isinstance(operation, Launch)]
        why, launched = "", list[LaunchTraffic]()
        try:
            launched = self._run(case, self._as_ptx(case, plan), plan.kernels)
        except _NoFacts as no_facts:
            # The plan and the compiler show some things without a run.
            why = say(self.words, no_facts.why)
            launched = [LaunchTraffic(kernel=launch.kernel, line=launch.line, grid=launch.grid, threads=launch.threads,
                                      programs=0, accesses=[]) for launch in launches]
        inspection = inspection_of(
            self.assignment, case, plan, launched, dict(zip(by_key, code, strict=True)), self.toolchain.target)
        tensors = [(parameter, prod(shape_of(parameter, case)) * DTYPES[dtype_of(parameter, case)].itemsize)
                   for parameter in self.assignment.parameters if not isinstance(parameter, Scalar)]
        on_host = frozenset(parameter.name for parameter, _ in tensors
                            if isinstance(parameter, Input) and parameter.place == "host")
        host = 0 if self.assignment.work is None else int(self.assignment.work(case).host_bytes)
        return CaseFacts(
            inspection,
            inputs={parameter.name: size for parameter, size in tensors if isinstance(parameter, Input | Update)
                    and parameter.name not in on_host},
            outputs={parameter.name: size for parameter, size in tensors if isinstance(parameter, Output | Update)},
            host=host or sum(size for parameter, size in tensors if parameter.name in on_host), on_host=on_host,
            lines=tuple(launch.line for launch in launches), why=why)

    def _as_ptx(self, case: Case, plan: Plan) -> Plan:
        """Return a plan whose kernels are PTX. Raises _NoFacts, InfrastructureError."""
        if not self.language or any(kernel.language == self.language for kernel in plan.kernels):
            return plan
        by_key = {kernel_key(kernel): kernel for kernel in plan.kernels}
        binaries = self.toolchain.lowered(by_key, self.toolchain.target)
        if binaries.keys() != by_key.keys():
            raise _NoFacts(fact("structure.long", case=case.name))
        try:
            return lowered(plan, binaries, self.language)
        except CannotLower as error:
            raise _NoFacts(fact("structure.unknown", case=case.name, why=str(error))) from None

    def _run(self, case: Case, plan: Plan, kernels: Sequence[Kernel]) -> list[LaunchTraffic]:
        """Return the traffic of a call's launches. Raises _NoFacts, InfrastructureError."""
        simulation = Simulation(
            self.toolchain, self.language, operations=OPERATIONS, seconds=SECONDS, budget=self.budget,
            fork_server=self.prepared.simulating)
        task, draws = self.prepared.task, self.prepared.draws
        # Programs that multiply large tiles take too long to be run to their ends.
        whole = not any("product" in languages.of(kernel).traits(kernel) for kernel in kernels)
        try:
            sample = Sample(self.assignment.views()[0], case, plan, simulation, draws, task.text, 0, warps=True)
            with suppress(SamplingError, SampleEnd):
                taken = sample.take() if whole else None
                if taken is not None and taken.detail is not None:
                    raise _NoFacts(fact("compiled", case=case.name, message=taken.detail.message))
                if taken is not None:
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
        if isinstance(reply, LostAnswer) and reply.kind in ("crash", "protocol"):
            raise InfrastructureError(f"a simulator ended while it counted: {reply.message}")
        why = reply.operation if isinstance(reply, CannotSimulate) else fact("structure.slow")
        raise _NoFacts(fact("structure.unknown", case=case.name, why=why))
