"""Trials of edited files: a cheap test whether one case comes out right. A pass proves nothing yet."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

from pydantic import ValidationError

from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.answers.answers import compared
from grader.judging.answers.inputs import Draws
from grader.judging.explain import explain_findings
from grader.judging.plans.planning import RequestedCall, given_of
from grader.judging.plans.rules import check, check_kernels
from grader.judging.prepared import PreparedTask
from grader.judging.running.buffers import memory_file
from grader.judging.running.exchange import ask_once
from grader.judging.running.simulation import CallResult, Simulation
from grader.plan.edits import EDITED_PLAN_BYTES, Edit, Edits
from grader.plan.messages import (
    EDITING_REPLY,
    Listed,
    ListEdits,
    Load,
    PlanCall,
    PlanEdited,
    PlannedEdited,
    Simulated,
    Texts,
)
from grader.plan.plan import Malformed, Plan, read_plan
from grader.plan.traffic import Watch
from grader.sandbox.forkserver.conversation import LostAnswer

# Processor seconds to plan a file, and seconds of the clock to plan one that has been built. An honest file takes some
# ten milliseconds.
FILE_SECONDS, BUILT_SECONDS = 1.0, 3.0
# Element operations of a call: many times what a small case takes. They end an endless loop, since a clock would end it
# elsewhere the next time.
OPERATIONS = 200_000_000
CALL_SECONDS = 20.0
# Seconds for a request, and more for each of its files.
REQUEST_SECONDS, MORE_SECONDS = 8.0, 0.5
# An edit may take so many times the operations, in all and for a byte that it loads or stores: beyond that it only adds
# steps that do nothing, as where a loop goes on behind the end of its data.
MOST_WORK = 4
EDIT_BYTES = 16 << 20
LIST_SECONDS = 10.0
# A place of the source in a kernel's text.
_PLACE = re.compile(r"^(?:#loc|[ \t]*+\.loc\s).*$|loc\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)?\)", re.MULTILINE)


class Trial:
    """A trial of edited files of a task on `case`, on the same contents each time. `lost` counts the planners that
    files have ended, or kept from answering. `end` ends the simulator."""

    def __init__(self, prepared: PreparedTask, case: Case) -> None:
        task = prepared.task
        self._task, self._case, self._toolchain, self.lost = task, case, prepared.toolchain, 0
        self._known = dict[bytes, bool]()
        self._own: Plan | None = None
        draws = Draws(task.assignment, task.seed, cuda=False)
        self._wanted = RequestedCall(case, draws.scalars(case))
        self._given = given_of(task.assignment, self._wanted)
        self._inputs: list[Inputs] = [draws.inputs(case, call, call) for call in (0, 1)]
        self._simulation = Simulation(prepared.toolchain, operations=OPERATIONS, seconds=CALL_SECONDS)

    def edits(self, lines: Sequence[int] = ()) -> list[Edit]:
        """Return the edits of the student's file, in the order in which to try them. `lines` are the lines that
        evidence names. Raises InfrastructureError."""
        source, result = memory_file(contents=self._task.text.encode()), memory_file(EDIT_BYTES)
        try:
            reply = self._requested(
                ListEdits(seq=0, function=self._task.assignment.function, given=self._given, lines=list(lines)),
                [source, result], LIST_SECONDS)
            if not isinstance(reply, Listed):
                return []
            return Edits.model_validate_json(os.pread(result, min(reply.bytes, EDIT_BYTES), 0)).edits
        except ValidationError:
            return []
        finally:
            os.close(source)
            os.close(result)

    def right(self, texts: Sequence[str]) -> Iterator[bool]:
        """Plan at most MOST_EDITED files, and yield whether each gives the right answer, which is simulated on
        demand. Raises InfrastructureError."""
        plans = self._built_plans(texts) if self._toolchain.builds else iter(self._planned(texts))
        for text, plan in zip(texts, plans, strict=True):
            if text == self._task.text:
                self._own = plan
            yield plan is not None and self._is_right(plan) and not self._idles(plan)

    def end(self) -> None:
        self._simulation.end()

    def _idles(self, plan: Plan) -> bool:
        """Return whether most operations of a plan are for nothing, measured by the file as it stands."""
        if self._own is None or self._own is plan:
            return False
        before, after = self._own_work, self._work(plan)
        return before is not None and after is not None and all(
            more > MOST_WORK * few for few, more in zip(before, after, strict=True))

    @cached_property
    def _own_work(self) -> tuple[int, float] | None:
        return None if self._own is None else self._work(self._own)

    def _work(self, plan: Plan) -> tuple[int, float] | None:
        """Return the operations of a plan's first call, in all and for a byte that it loads or stores; None if it does
        not end."""
        ran = self._simulation.inspect(
            self._task.assignment, plan, Watch(programs=OPERATIONS), operations=OPERATIONS)
        if not isinstance(ran, Simulated):
            return None
        bytes_ = sum(access.needed for launch in ran.launched for access in launch.accesses)
        return ran.operations, ran.operations / max(1, bytes_)

    def _built_plans(self, texts: Sequence[str]) -> Iterator[Plan | None]:
        """Yield the plans of files that have to be built first, all together."""
        if texts[0] == self._task.text:
            # The file as it stands has been built.
            yield from self._together(texts[:1])
            texts = texts[1:]
        plans = self._together(texts) if texts else []
        if any(plans):
            yield from plans
        else:
            # A file may be one that does not compile beside others.
            yield from chain.from_iterable(self._together([text]) for text in texts)

    def _together(self, texts: Sequence[str]) -> list[Plan | None]:
        """Return the plans of files that are built as one."""
        built = self._toolchain.build_together(texts).result()
        return self._planned(texts, built) if isinstance(built, bytes) else [None] * len(texts)

    def _planned(self, texts: Sequence[str], built: bytes | None = None) -> list[Plan | None]:
        assignment, written = self._task.assignment, Texts(texts=list(texts)).model_dump_json().encode()
        load = Load(seq=0, file=assignment.file, function=assignment.function, device=self._toolchain.device,
                    given=self._given, autograd=bool(assignment.autograd))
        call = PlanCall(seq=0, given=self._given, copies=bool(assignment.operators))
        files = [memory_file(contents=written), memory_file(len(texts) * EDITED_PLAN_BYTES)]
        seconds, more = FILE_SECONDS, MORE_SECONDS
        if built is not None:
            files.append(memory_file(contents=built))
            seconds = more = BUILT_SECONDS
        try:
            reply = self._requested(
                PlanEdited(seq=0, load=load, call=call, bytes=len(written), seconds=seconds), files,
                REQUEST_SECONDS + more * len(texts))
            if not isinstance(reply, PlannedEdited) or len(reply.plans) != len(texts):
                return [None] * len(texts)
            return [self._read_plan(files[1], number, size) for number, size in enumerate(reply.plans)]
        finally:
            for file in files:
                os.close(file)

    def _requested(
        self, request: ListEdits | PlanEdited, files: list[int], seconds: float
    ) -> Listed | PlannedEdited | LostAnswer:
        """Send a request to a planner and return its reply. The planner has ended when this returns."""
        with self._toolchain.fork_server.lock:
            reply = ask_once(
                lambda: self._toolchain.start("planner"), request, EDITING_REPLY, files, seconds=seconds)
        self.lost += isinstance(reply, LostAnswer)
        return reply

    def _read_plan(self, file: int, number: int, size: int) -> Plan | None:
        """Read a plan; None if it does not hold."""
        if not 0 < size <= EDITED_PLAN_BYTES:
            return None
        assignment = self._task.assignment
        try:
            plan = read_plan(os.pread(file, size, number * EDITED_PLAN_BYTES))
            check_kernels(plan.kernels, assignment.front_end.name)
            problems = check(plan, self._given, device=self._toolchain.device, copies=bool(assignment.operators))
        except Malformed:
            return None
        return None if problems else plan

    def _is_right(self, plan: Plan) -> bool:
        """Return whether a plan gives the right answer: of plans that differ in the places of their source alone, one
        is simulated."""
        texts = [without_places(kernel.text) for kernel in plan.kernels]
        rest = plan.model_dump_json(exclude={"kernels": {"__all__": {"text", "line"}}})
        key = hashlib.blake2b("\0".join([*texts, rest]).encode(), digest_size=16).digest()
        if key not in self._known:
            self._known[key] = self._simulated(plan)
        return self._known[key]

    def _simulated(self, plan: Plan) -> bool:
        assignment = self._task.assignment
        for call in range(len(plan.calls())):
            ran = self._simulation.run(assignment, self._case, plan, self._inputs[:call + 1])
            if not isinstance(ran, CallResult) or ran.changed or explain_findings(assignment, "", ran.findings) or (
                    not compared(assignment, ran, self._inputs[call]).passed):
                return False
        return True


def without_places(text: str) -> str:
    """Return a kernel's text without the places of its source."""
    return _PLACE.sub("", text)
