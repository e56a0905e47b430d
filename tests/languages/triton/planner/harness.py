"""Plans a file as a grading does: in a forked process, over a socket pair, with the plan in a memory file."""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from grader.course.assignment import Assignment
from grader.course.cases import Case, shape_of
from grader.course.catalogue import assignments
from grader.course.parameters import Scalar
from grader.languages.triton.confined.planner import main
from grader.plan.device import TARGETS, Device
from grader.plan.messages import (
    PLANNER_REPLY,
    AbsentName,
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
from tests.languages.served import PartProcess, memory_file


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


class Planner(PartProcess):
    """A planner's process. `with Planner() as planner:` ends it."""

    def __init__(self) -> None:
        _prepare()
        super().__init__(main.serve)

    def load(
        self, source: bytes, file: str, function: str, given: list[Given], device: Device = TARGETS["sm_90"], *,
        autograd: bool = False,
    ) -> Loaded | Refused | AbsentName | Failed:
        memory = memory_file(source)
        try:
            reply = self.ask(
                Load(seq=0, file=file, function=function, device=device, given=given, autograd=autograd),
                PLANNER_REPLY, memory)
        finally:
            os.close(memory)
        assert not isinstance(reply, Planned)
        return reply

    def plan(
        self, given: list[Given], *, copies: bool = False, answers: Answers | None = None
    ) -> Plan | Planned | Refused | AbsentName | Failed:
        """A plan, or the answer that there is none; `Planned` where another case's memory is needed."""
        reply, plan = self.planned(given, copies=copies, answers=answers)
        return plan or reply

    def planned(
        self, given: list[Given], *, copies: bool = False, answers: Answers | None = None
    ) -> tuple[Planned | Refused | AbsentName | Failed, Plan | None]:
        """What a planner answers, and the plan if there is one."""
        memory = memory_file(room=PLAN_BYTES)
        try:
            reply = self.ask(PlanCall(seq=0, given=given, copies=copies, answers=answers or Answers()), PLANNER_REPLY,
                             memory)
            assert not isinstance(reply, Loaded)
            if not isinstance(reply, Planned) or reply.earlier:
                return reply, None
            return reply, read_plan(os.pread(memory, reply.bytes, 0))
        finally:
            os.close(memory)


_prepare = cache(main.prepare)


def assignment_of(name: str) -> Assignment:
    return assignments()[name]


def plan_cases(
    source: Path | str, assignment: Assignment, cases: Sequence[Case], *,
    answers: Answers | None = None, device: Device = TARGETS["sm_90"],
) -> list[Plan | Refused | AbsentName | Failed]:
    """A plan for each case, in one process as long as that can give it."""
    text = source.read_bytes() if isinstance(source, Path) else source.encode()
    found: list[Plan | Refused | AbsentName | Failed] = []
    waiting = list(cases)
    while waiting:
        with Planner() as planner:
            given = given_of(assignment, waiting[0])
            loaded = planner.load(text, assignment.file, assignment.function, given, device)
            if not isinstance(loaded, Loaded):
                return [loaded] * len(cases)
            for number, case in enumerate(list(waiting)):
                plan = planner.plan(given_of(assignment, case), copies=bool(assignment.operators), answers=answers)
                if isinstance(plan, Planned):
                    assert number, "a fresh planner has seen no earlier case"
                    break
                found.append(plan)
                del waiting[0]
    return found


def plan_file(
    source: Path | str, assignment: Assignment | str, case: Case | None = None, *,
    answers: Answers | None = None, device: Device = TARGETS["sm_90"],
) -> Plan | Refused | AbsentName | Failed:
    """The plan of one case, the first one if none is named, of a file or of its text."""
    if isinstance(assignment, str):
        assignment = assignment_of(assignment)
    return plan_cases(
        source, assignment, [case or assignment.cases[0]], answers=answers, device=device)[0]


SILU = assignment_of("silu")
CASE, EVEN = (next(case for case in SILU.cases if case.name == name) for name in ("5x9", "64x64"))
Kind = TypeVar("Kind")


def answer(kind: type[Kind], text: str, case: Case = CASE, **options: Any) -> Kind:
    """Return the outcome of planning a file's text for a case of `silu`, which is of this kind."""
    found = plan_file(text, SILU, case, **options)
    assert isinstance(found, kind), found
    return found
