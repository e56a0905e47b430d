"""Plans of a submission's calls, requested from planners and read when no planner is alive any more."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of, shape_of, strides_of
from grader.course.parameters import Output, Scalar, Tensor, Value
from grader.judging.plans.rules import Problem, check, check_kernels
from grader.judging.running.allowance import OWN
from grader.judging.running.buffers import memory_file
from grader.plan import messages
from grader.plan.device import Device
from grader.plan.messages import (
    Absent,
    Answers,
    Failed,
    Given,
    GivenScalar,
    GivenTensor,
    Loaded,
    Refused,
    Skipped,
    kernel_key,
)
from grader.plan.plan import PLAN_BYTES, Kernel, Malformed, Plan, read_plan
from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.conversation import Conversation, Lost

CALLS = 2
"""Most calls of a plan: the first and the steady one."""
_NUMBERS: Mapping[str, Callable[[Value], Value]] = {"float": float, "int": int, "bool": bool}
WRONG_ANSWER = Lost("protocol", "an answer to something else")


@dataclass(frozen=True)
class Wanted:
    """A call to be planned, on the case's shapes and with these numbers for its scalars. `answers` are for host code
    that asks what its kernels take, or what an autotuner chooses."""

    case: Case
    scalars: Mapping[str, Value]
    answers: Answers = field(default_factory=Answers)


Unplanned = Refused | Absent | Failed | Problem | Lost
"""The reason why there is no plan: the planner refused a request of host code, a name is absent, a call failed, the
plan breaks a rule, or the planner was lost."""


@dataclass
class Planning:
    """The outcomes of planning, one for each call wanted, in order. `loading` is the reason why the file could not be
    loaded. `asked` are, for each call, the kernels for whose resources host code asked and got a guess, by the
    planner's key."""

    outcomes: list[Plan | Unplanned] = field(default_factory=list)
    asked: list[dict[str, Kernel]] = field(default_factory=list)
    loading: Failed | Refused | Absent | Lost | None = None
    skipped: list[Skipped] = field(default_factory=list)
    printed: str = ""


def given_of(assignment: Assignment, wanted: Wanted) -> list[Given]:
    """Return the parameters of a call, as a planner gets them: those of the function in the file's language."""
    own = {given.name: given for given in parameters_of(assignment, wanted)}
    return [own.get(taken.of[0]) or GivenScalar(
        name=taken.name, type="int", value=taken.size(wanted.case.sizes)) for taken in assignment.takes]


def parameters_of(assignment: Assignment, wanted: Wanted) -> list[Given]:
    """Return the assignment's own parameters, as its baselines take them in any language."""
    return [GivenScalar(name=one.name, type=one.type, value=_NUMBERS[one.type](wanted.scalars[one.name]))
            if isinstance(one, Scalar) else given_tensor(one, wanted.case) for one in assignment.parameters]


def given_tensor(parameter: Tensor, case: Case) -> GivenTensor:
    """Return a tensor of a call, as a planner gets it."""
    return GivenTensor(
        name=parameter.name, shape=list(shape_of(parameter, case)), dtype=dtype_of(parameter, case),
        place=parameter.place, output=parameter.kind != "input", filled=parameter.kind != "output",
        strides=list(strides_of(parameter, case)) if parameter.name in case.strides else [],
        gradient_of=parameter.gradient_of, saved=isinstance(parameter, Output) and parameter.saved)


def plan_calls(
    start: Callable[[], Conversation], assignment: Assignment, contents: Sequence[bytes], wanted: Sequence[Wanted],
    device: Device, printed: Callable[[Sequence[str]], Sequence[str] | Lost], *, call_seconds: float, until: float,
) -> Planning:
    """Plan every call, in one planner as long as that lives. No process of the submission is left when this returns.

    `contents` are the file, and what a builder made of it where the language has one. `printed` returns kernels' texts
    in canonical form, as `canonical_texts` does: plans hold these texts alone. `until` is the assignment's deadline
    (`clock.now`). Raises InfrastructureError.
    """
    found = Planning()
    with ExitStack() as stack:
        files = []
        for _ in wanted:
            files.append(memory_file(PLAN_BYTES))
            stack.callback(os.close, files[-1])
        planner = _PlannerProcess(start, assignment, contents, device, call_seconds, until, found)
        stack.callback(planner.end)
        replies = [planner.plan(one, file) for one, file in zip(wanted, files, strict=True)]
        for number, reply in enumerate(replies):
            if isinstance(reply, messages.Planned) and reply.earlier:
                # The plan uses memory that earlier cases have made: a fresh planner plans the call again.
                planner.end()
                replies[number] = planner.plan(wanted[number], files[number])
        planner.end()
        # From here on no process can write to the files any more.
        language = assignment.front_end.name
        raw = [_read(file, reply, language) if isinstance(reply, messages.Planned) else reply
               for file, reply in zip(files, replies, strict=True)]
        asked = [_asked(outcome, file, language) for outcome, file in zip(raw, files, strict=True)]
    texts = list(dict.fromkeys(kernel.text for outcome, kernels in zip(raw, asked, strict=True)
                               for kernel in (*kernels, *(outcome.kernels if isinstance(outcome, Plan) else ()))))
    canonical = printed(texts) if texts else []
    if isinstance(canonical, Lost):
        found.outcomes = [canonical if isinstance(one, Plan) else one for one in raw]
        found.asked = [{} for _ in raw]
        return found
    by_text = dict(zip(texts, canonical, strict=True))
    found.outcomes = [_checked(assignment, call, plan, by_text, device) if isinstance(plan, Plan) else plan
                      for call, plan in zip(wanted, raw, strict=True)]
    found.asked = [{kernel_key(kernel): one for kernel in kernels for one in _canonical([kernel], by_text)}
                   for kernels in asked]
    return found


class _PlannerProcess:
    """Planners, one at a time, each started by its first request."""

    def __init__(
        self, start: Callable[[], Conversation], assignment: Assignment, contents: Sequence[bytes], device: Device,
        call_seconds: float, until: float, found: Planning,
    ) -> None:
        self._start = start
        self._assignment = assignment
        self._device = device
        self._call_seconds = call_seconds
        self._until = until
        self._found = found
        self._contents = contents
        self._conversation: Conversation | None = None
        # The outcome of every further call.
        self._stopped: Failed | Refused | Absent | Lost | None = None

    def plan(self, wanted: Wanted, file: int) -> messages.Planned | Refused | Absent | Failed | Lost:
        if self._stopped is None and clock.now() >= self._until:
            return Lost("time_out", "not called: the time of the assignment was used up by the calls before")
        if self._conversation is None and self._stopped is None:
            self._load(wanted)
        if self._stopped is not None:
            return self._stopped
        reply = self._ask(messages.PlanCall(
            seq=0, given=given_of(self._assignment, wanted), copies=bool(self._assignment.operators),
            answers=wanted.answers, seconds=OWN * CALLS * self._call_seconds), file)
        if isinstance(reply, Loaded):
            self.end()
            return WRONG_ANSWER
        if isinstance(reply, Lost):
            self.end()
        ended = reply.kind if isinstance(reply, Lost) else reply.failure if isinstance(reply, Failed) else ""
        if ended == "time_out":
            self._stopped = Lost("time_out", "not called: a call before had run out of time")
        return reply

    def end(self) -> None:
        if self._conversation is not None:
            self._conversation.end()
            self._found.printed = self._found.printed or self._conversation.printed
            self._conversation = None

    def _load(self, wanted: Wanted) -> None:
        """Start a planner and have it run the file."""
        self._conversation = self._start()
        files = [memory_file(contents=one) for one in self._contents]
        try:
            reply = self._ask(messages.Load(
                seq=0, file=self._assignment.file, function=self._assignment.function, device=self._device,
                given=given_of(self._assignment, wanted), autograd=bool(self._assignment.autograd)), *files)
        finally:
            for file in files:
                os.close(file)
        if not isinstance(reply, Loaded):
            self.end()
            self._stopped = self._found.loading = WRONG_ANSWER if isinstance(reply, messages.Planned) else reply

    def _ask(
        self, request: messages.Load | messages.PlanCall, *files: int
    ) -> Loaded | messages.Planned | Refused | Absent | Failed | Lost:
        assert self._conversation is not None
        seconds = self._call_seconds * (CALLS if isinstance(request, messages.PlanCall) else 1)
        reply = self._conversation.ask(
            request.model_copy(update={"seq": self._conversation.next_seq()}), messages.PLANNER_REPLY,
            seconds=max(0.0, min(seconds, self._until - clock.now())), descriptors=[*files])
        if isinstance(reply, Loaded | messages.Planned):
            self._found.skipped += [one for one in reply.skipped if one not in self._found.skipped]
        return reply


def _read(file: int, reply: messages.Planned, language: str) -> Plan | Lost:
    """Read a plan, and check that its fields have the right shapes and that a compiler may see its kernels."""
    if reply.bytes > PLAN_BYTES:
        return Lost("protocol", f"a plan of {reply.bytes:,} bytes")
    try:
        plan = read_plan(os.pread(file, reply.bytes, 0))
        check_kernels(plan.kernels, language)
        return plan
    except Malformed as malformed:
        return _malformed(malformed)


def _checked(
    assignment: Assignment, wanted: Wanted, plan: Plan, canonical: Mapping[str, str], device: Device
) -> Plan | Problem | Lost:
    """Return the plan with its kernels' texts in canonical form; its first problem if there is one."""
    kernels = [kernel.model_copy(update={"text": canonical[kernel.text]}) for kernel in plan.kernels]
    plan = plan.model_copy(update={"kernels": kernels})
    try:
        if not all(kernel.text for kernel in kernels):
            raise Malformed("a kernel whose text its compiler does not take")
        problems = check(plan, given_of(assignment, wanted), device=device, copies=bool(assignment.operators))
    except Malformed as malformed:
        return _malformed(malformed)
    return problems[0] if problems else plan


def _malformed(error: Malformed) -> Lost:
    return Lost("protocol", f"its plan does not hold: {error}")


def _asked(outcome: Plan | Unplanned, file: int, language: str) -> list[Kernel]:
    """Return the kernels about which host code asked, as the planner wrote them; none if they cannot be read."""
    if isinstance(outcome, Plan):
        return [outcome.kernels[number] for number in outcome.asked if number < len(outcome.kernels)]
    if not isinstance(outcome, Refused | Failed) or not 0 < outcome.asked <= PLAN_BYTES:
        return []
    try:
        kernels = messages.Kernels.model_validate_json(os.pread(file, outcome.asked, 0)).kernels
        check_kernels(kernels, language)
    except (ValueError, RecursionError, Malformed):
        return []
    return kernels


def _canonical(kernels: Sequence[Kernel], texts: Mapping[str, str]) -> list[Kernel]:
    """Return the kernels with canonical texts; no kernel if one of them is malformed."""
    found = [kernel.model_copy(update={"text": texts[kernel.text]}) for kernel in kernels]
    try:
        check_kernels(found)
    except Malformed:
        return []
    return found
