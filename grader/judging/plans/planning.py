"""Plans of a submission's calls, requested from planners and read once all planners have ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of, shape_of, strides_of
from grader.course.parameters import Output, Scalar, Tensor, Value
from grader.judging.plans.rules import Problem, check, check_kernels
from grader.judging.running.buffers import memory_file
from grader.judging.running.time_budget import OWN
from grader.plan import messages
from grader.plan.device import Device
from grader.plan.messages import (
    AbsentName,
    Answers,
    Failed,
    Given,
    GivenScalar,
    GivenTensor,
    Loaded,
    Refused,
    SkippedStatement,
    kernel_key,
)
from grader.plan.plan import PLAN_BYTES, Kernel, Malformed, Plan, read_plan
from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.conversation import Conversation, LostAnswer

CALLS = 2
"""Most calls of a plan: the first and the steady one."""
_NUMBERS: Mapping[str, Callable[[Value], Value]] = {"float": float, "int": int, "bool": bool}
WRONG_ANSWER = LostAnswer("protocol", "an answer to something else")


@dataclass(frozen=True)
class RequestedCall:
    """A call to be planned, on the case's shapes and with these numbers for its scalars. `answers` are for host code
    that queries its kernels' resources, or an autotuner's choice."""

    case: Case
    scalars: Mapping[str, Value]
    answers: Answers = field(default_factory=Answers)


Unplanned = Refused | AbsentName | Failed | Problem | LostAnswer
"""The reason why there is no plan: the planner refused a request of host code, a name is absent, a call failed, the
plan breaks a rule, or the planner was lost."""


@dataclass
class Planning:
    """The outcomes of planning, one for each call wanted, in order. `loading` is the reason why the file could not be
    loaded. `queried` are, for each call, the kernels whose resources host code queried and got as a guess, by
    the planner's key."""

    outcomes: list[Plan | Unplanned] = field(default_factory=list)
    queried: list[dict[str, Kernel]] = field(default_factory=list)
    loading: Failed | Refused | AbsentName | LostAnswer | None = None
    skipped: list[SkippedStatement] = field(default_factory=list)
    printed: str = ""


def given_of(assignment: Assignment, wanted: RequestedCall) -> list[Given]:
    """Return the parameters of a call, as a planner gets them: the function's parameters in the file's language."""
    own = {given.name: given for given in parameters_of(assignment, wanted)}
    return [own.get(taken.of[0]) or GivenScalar(
        name=taken.name, type="int", value=taken.size(wanted.case.sizes)) for taken in assignment.takes]


def parameters_of(assignment: Assignment, wanted: RequestedCall) -> list[Given]:
    """Return the assignment's own parameters, as its baselines take them in any language."""
    return [GivenScalar(name=parameter.name, type=parameter.type,
                        value=_NUMBERS[parameter.type](wanted.scalars[parameter.name]))
            if isinstance(parameter, Scalar) else given_tensor(parameter, wanted.case)
            for parameter in assignment.parameters]


def given_tensor(parameter: Tensor, case: Case) -> GivenTensor:
    """Return a tensor of a call, as a planner gets it."""
    return GivenTensor(
        name=parameter.name, shape=list(shape_of(parameter, case)), dtype=dtype_of(parameter, case),
        place=parameter.place, output=parameter.kind != "input", filled=parameter.kind != "output",
        strides=list(strides_of(parameter, case)) if parameter.name in case.strides else [],
        gradient_of=parameter.gradient_of, saved=isinstance(parameter, Output) and parameter.saved)


def plan_calls(
    start: Callable[[], Conversation], assignment: Assignment, contents: Sequence[bytes],
    wanted: Sequence[RequestedCall], device: Device, printed: Callable[[Sequence[str]], Sequence[str] | LostAnswer], *,
    call_seconds: float, until: float,
) -> Planning:
    """Plan every call, in one planner as long as that lives. No process of the submission is left when this returns.

    `contents` are the file, and what a builder made of it where the language has one. `printed` returns kernels' texts
    in canonical form, as `canonical_texts` does: plans hold these texts alone. `until` is the assignment's deadline
    (`clock.now`). Raises InfrastructureError.
    """
    planning = Planning()
    with ExitStack() as stack:
        files = []
        for _ in wanted:
            files.append(memory_file(PLAN_BYTES))
            stack.callback(os.close, files[-1])
        planner = _PlannerProcess(start, assignment, contents, device, call_seconds, until, planning)
        stack.callback(planner.end)
        replies = [planner.plan(call, file) for call, file in zip(wanted, files, strict=True)]
        for number, reply in enumerate(replies):
            if isinstance(reply, messages.Planned) and reply.earlier:
                # The plan uses memory that earlier cases have made, so a fresh planner plans the call again.
                planner.end()
                replies[number] = planner.plan(wanted[number], files[number])
        planner.end()
        # From here on no process can write to the files.
        language = assignment.front_end.name
        raw = [_read_plan(file, reply, language) if isinstance(reply, messages.Planned) else reply
               for file, reply in zip(files, replies, strict=True)]
        queried = [_queried_kernels(outcome, file, language) for outcome, file in zip(raw, files, strict=True)]
    texts = list(dict.fromkeys(kernel.text for outcome, kernels in zip(raw, queried, strict=True)
                               for kernel in (*kernels, *(outcome.kernels if isinstance(outcome, Plan) else ()))))
    canonical = printed(texts) if texts else []
    if isinstance(canonical, LostAnswer):
        planning.outcomes = [canonical if isinstance(outcome, Plan) else outcome for outcome in raw]
        planning.queried = [{} for _ in raw]
        return planning
    by_text = dict(zip(texts, canonical, strict=True))
    planning.outcomes = [_check_plan(assignment, call, plan, by_text, device) if isinstance(plan, Plan) else plan
                         for call, plan in zip(wanted, raw, strict=True)]
    planning.queried = [{kernel_key(kernel): parsed for kernel in kernels for parsed in _canonical([kernel], by_text)}
                        for kernels in queried]
    return planning


class _PlannerProcess:
    """Planners, one at a time, each started by its first request."""

    def __init__(
        self, start: Callable[[], Conversation], assignment: Assignment, contents: Sequence[bytes], device: Device,
        call_seconds: float, until: float, planning: Planning,
    ) -> None:
        self._start = start
        self._assignment = assignment
        self._device = device
        self._call_seconds = call_seconds
        self._until = until
        self._planning = planning
        self._contents = contents
        self._conversation: Conversation | None = None
        # The outcome of every further call.
        self._stopped: Failed | Refused | AbsentName | LostAnswer | None = None

    def plan(self, wanted: RequestedCall, file: int) -> messages.Planned | Refused | AbsentName | Failed | LostAnswer:
        if self._stopped is None and clock.now() >= self._until:
            return LostAnswer("time_out", "not called: the time of the assignment was used up by the calls before")
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
        if isinstance(reply, LostAnswer):
            self.end()
        ended = reply.kind if isinstance(reply, LostAnswer) else reply.failure if isinstance(reply, Failed) else ""
        if ended == "time_out":
            self._stopped = LostAnswer("time_out", "not called: a call before had run out of time")
        return reply

    def end(self) -> None:
        if self._conversation is not None:
            self._conversation.end()
            self._planning.printed = self._planning.printed or self._conversation.printed
            self._conversation = None

    def _load(self, wanted: RequestedCall) -> None:
        """Start a planner and have it run the file."""
        self._conversation = self._start()
        files = [memory_file(contents=content) for content in self._contents]
        try:
            reply = self._ask(messages.Load(
                seq=0, file=self._assignment.file, function=self._assignment.function, device=self._device,
                given=given_of(self._assignment, wanted), autograd=bool(self._assignment.autograd)), *files)
        finally:
            for file in files:
                os.close(file)
        if not isinstance(reply, Loaded):
            self.end()
            self._stopped = self._planning.loading = WRONG_ANSWER if isinstance(reply, messages.Planned) else reply

    def _ask(
        self, request: messages.Load | messages.PlanCall, *files: int
    ) -> Loaded | messages.Planned | Refused | AbsentName | Failed | LostAnswer:
        assert self._conversation is not None
        seconds = self._call_seconds * (CALLS if isinstance(request, messages.PlanCall) else 1)
        reply = self._conversation.ask(
            request.model_copy(update={"seq": self._conversation.next_seq()}), messages.PLANNER_REPLY,
            seconds=max(0.0, min(seconds, self._until - clock.now())), descriptors=[*files])
        if isinstance(reply, Loaded | messages.Planned):
            self._planning.skipped += [
                statement for statement in reply.skipped if statement not in self._planning.skipped]
        return reply


def _read_plan(file: int, reply: messages.Planned, language: str) -> Plan | LostAnswer:
    """Read a plan, and check that its fields have the right shapes and that a compiler may see its kernels."""
    if reply.bytes > PLAN_BYTES:
        return LostAnswer("protocol", f"a plan of {reply.bytes:,} bytes")
    try:
        plan = read_plan(os.pread(file, reply.bytes, 0))
        check_kernels(plan.kernels, language)
        return plan
    except Malformed as malformed:
        return _malformed(malformed)


def _check_plan(
    assignment: Assignment, wanted: RequestedCall, plan: Plan, canonical: Mapping[str, str], device: Device
) -> Plan | Problem | LostAnswer:
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


def _malformed(error: Malformed) -> LostAnswer:
    return LostAnswer("protocol", f"its plan does not hold: {error}")


def _queried_kernels(outcome: Plan | Unplanned, file: int, language: str) -> list[Kernel]:
    """Return the kernels that host code queried, as the planner wrote them; none if they cannot be read."""
    if isinstance(outcome, Plan):
        return [outcome.kernels[number] for number in outcome.resource_queries if number < len(outcome.kernels)]
    if not isinstance(outcome, Refused | Failed) or not 0 < outcome.kernels_bytes <= PLAN_BYTES:
        return []
    try:
        kernels = messages.Kernels.model_validate_json(os.pread(file, outcome.kernels_bytes, 0)).kernels
        check_kernels(kernels, language)
    except (ValueError, RecursionError, Malformed):
        return []
    return kernels


def _canonical(kernels: Sequence[Kernel], texts: Mapping[str, str]) -> list[Kernel]:
    """Return the kernels with canonical texts; no kernel if one of them is malformed."""
    canonical = [kernel.model_copy(update={"text": texts[kernel.text]}) for kernel in kernels]
    try:
        check_kernels(canonical)
    except Malformed:
        return []
    return canonical
