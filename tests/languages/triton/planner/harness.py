"""Plans a file as a grading does: in a forked process, over a socket pair, with the plan in a memory file."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from grader.course.assignment import Assignment
from grader.course.cases import Case, shape_of
from grader.course.catalogue import assignments
from grader.course.parameters import Scalar
from grader.languages.triton.confined.planner import main
from grader.plan.device import TARGETS, Device
from grader.plan.frames import Channel, socket_pair
from grader.plan.messages import (
    PLANNER_REPLY,
    Absent,
    Answers,
    Failed,
    Given,
    GivenScalar,
    GivenTensor,
    Load,
    Loaded,
    PlanCall,
    Planned,
    Refused,
)
from grader.plan.plan import PLAN_BYTES, Plan, read_plan

SECONDS = 60.0
_prepared = False


def given_of(assignment: Assignment, case: Case, eps: float = 1e-5) -> list[Given]:
    """The parameters of a case, as the judge tells a planner of them."""
    given: list[Given] = []
    for parameter in assignment.parameters:
        if isinstance(parameter, Scalar):
            given.append(GivenScalar(name=parameter.name, value=eps))
        else:
            given.append(GivenTensor(
                name=parameter.name, shape=list(shape_of(parameter, case)), dtype=parameter.dtype,
                place=parameter.place if parameter.kind == "input" else "device",
                output=parameter.kind == "output"))
    return given


class Planner:
    """A planner's process. `with Planner(…) as planner:` ends it."""

    def __init__(self) -> None:
        global _prepared
        if not _prepared:
            main.prepare()
            _prepared = True
        ours, theirs = socket_pair()
        self._folder = tempfile.TemporaryDirectory()
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                ours.close()
                # A plot, say, is saved where the process works.
                os.chdir(self._folder.name)
                # As without pytest, whose filters make errors of a submission's warnings.
                warnings.resetwarnings()
                main.serve(Channel(theirs))
                code = 0
            finally:
                os._exit(code)
        theirs.close()
        self.channel = Channel(ours)
        self._seq = 0

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        self._folder.cleanup()

    def _ask(self, request: Load | PlanCall, descriptor: int) -> Loaded | Planned | Refused | Absent | Failed:
        self.channel.send(request, [descriptor])
        return self.channel.receive(PLANNER_REPLY, seq=request.seq, deadline=time.monotonic() + SECONDS)

    def load(
        self, source: bytes, file: str, function: str, given: list[Given], device: Device = TARGETS["sm_90"], *,
        autograd: bool = False,
    ) -> Loaded | Refused | Absent | Failed:
        memory = _memory(source)
        try:
            self._seq += 1
            reply = self._ask(
                Load(seq=self._seq, file=file, function=function, device=device, given=given, autograd=autograd),
                memory)
        finally:
            os.close(memory)
        assert not isinstance(reply, Planned)
        return reply

    def plan(
        self, given: list[Given], *, copies: bool = False, answers: Answers | None = None
    ) -> Plan | Planned | Refused | Absent | Failed:
        """A plan, or the answer that there is none; `Planned` where another case's memory is needed."""
        reply, plan = self.planned(given, copies=copies, answers=answers)
        return plan or reply

    def planned(
        self, given: list[Given], *, copies: bool = False, answers: Answers | None = None
    ) -> tuple[Planned | Refused | Absent | Failed, Plan | None]:
        """What a planner answers, and the plan if there is one."""
        memory = _memory(b"", PLAN_BYTES)
        try:
            self._seq += 1
            reply = self._ask(PlanCall(
                seq=self._seq, given=given, copies=copies, answers=answers or Answers()), memory)
            assert not isinstance(reply, Loaded)
            if not isinstance(reply, Planned) or reply.earlier:
                return reply, None
            return reply, read_plan(os.pread(memory, reply.bytes, 0))
        finally:
            os.close(memory)


def _memory(contents: bytes, size: int = 0) -> int:
    memory = os.memfd_create("planner")
    os.ftruncate(memory, max(size, len(contents)))
    os.pwrite(memory, contents, 0)
    return memory


def assignment_of(name: str) -> Assignment:
    return assignments()[name]


def plan_cases(
    source: Path | str, assignment: Assignment, cases: Sequence[Case], *,
    answers: Answers | None = None, device: Device = TARGETS["sm_90"],
) -> list[Plan | Refused | Absent | Failed]:
    """A plan for each case, in one process as long as that can give it."""
    text = source.read_bytes() if isinstance(source, Path) else source.encode()
    found: list[Plan | Refused | Absent | Failed] = []
    planner: Planner | None = None
    try:
        for case in cases:
            given = given_of(assignment, case)
            for _ in range(2):
                if planner is None:
                    planner = Planner()
                    loaded = planner.load(text, assignment.file, assignment.function, given, device)
                    if not isinstance(loaded, Loaded):
                        return [loaded] * len(cases)
                plan = planner.plan(given, copies=bool(assignment.operators), answers=answers)
                if not isinstance(plan, Planned):
                    found.append(plan)
                    break
                planner.__exit__()
                planner = None
            else:
                raise AssertionError("a fresh planner has seen no earlier case")
    finally:
        if planner is not None:
            planner.__exit__()
    return found


def plan_file(
    source: Path | str, assignment: Assignment | str, case: Case | None = None, *,
    answers: Answers | None = None, device: Device = TARGETS["sm_90"],
) -> Plan | Refused | Absent | Failed:
    """The plan of one case, the first one if none is named, of a file or of its text."""
    if isinstance(assignment, str):
        assignment = assignment_of(assignment)
    return plan_cases(
        source, assignment, [case or assignment.cases[0]], answers=answers, device=device)[0]
