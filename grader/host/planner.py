"""Planner of host code in Python: runs a submission's file and calls its function on tensors without numbers, to see
what it launches.

It shares its process with the student's code, so none of its messages is trusted: a plan is data that the judge checks.
"""

from __future__ import annotations

import inspect
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf
from tempfile import TemporaryFile
from typing import Any, Literal, Protocol

import torch

from grader.host import assemble, audit, autograd, failures, handles, record, source, torch_cuda
from grader.host.dispatch import DispatchMode
from grader.host.functions import FunctionMode
from grader.host.record import Session
from grader.plan import forks, serving
from grader.plan.edits import EDITED_PLAN_BYTES, Edits
from grader.plan.frames import Channel
from grader.plan.messages import (
    EDITING_REQUEST,
    AbsentName,
    Failed,
    Given,
    GivenScalar,
    GivenTensor,
    Listed,
    ListEdits,
    Load,
    Loaded,
    PlanCall,
    PlanEdited,
    Planned,
    PlannedEdited,
    Refused,
    Texts,
)
from grader.plan.plan import PLAN_BYTES, Operation, Tuner, write_plan
from grader.plan.streams import StreamOrder

# A student's machine has two processors to spare; where lanes take them all, two children take as long as one.
_AT_ONCE = 2
# Seconds of the clock for each second of processor time: a file may sleep, and a machine may be busy.
_PATIENCE = 5
_Reply = Loaded | Planned | Refused | AbsentName | Failed


class HostLanguage(Protocol):
    """A language of kernels, whose launches are recorded: the kernels that host code has launched or asked about, and
    the autotuners of the present case.

    `reset` clears all kernels before a file is loaded; `begin_case` lets each autotuner tune again. `failed` returns
    the message for an exception of the graded function, `undefined` the names that an exception says are not defined.
    """

    @property
    def kernels(self) -> Sequence[assemble.PlannedKernel]: ...

    @property
    def tuners(self) -> list[Tuner]: ...

    def reset(self) -> None: ...

    def begin_case(self) -> None: ...

    def failed(self, error: BaseException, seq: int) -> Failed: ...

    def undefined(self, error: BaseException) -> list[str]: ...


def serve(
    channel: Channel, language: Callable[[Session], HostLanguage],
    edits: Callable[[ListEdits, str], Edits] = lambda request, text: Edits(edits=[]),
) -> None:
    """Answer the judge until it hangs up. `language` puts a language's stand-ins in place for a session; `edits` lists
    edits of a file."""
    planner: HostPlanner | None = None

    def answer(
        request: Load | PlanCall | ListEdits | PlanEdited, files: Sequence[int]
    ) -> _Reply | Listed | PlannedEdited:
        nonlocal planner
        if isinstance(request, ListEdits):
            written = edits(request, _text(files[0])).model_dump_json().encode()
            return Listed(seq=request.seq, bytes=os.pwrite(files[1], written, 0))
        if isinstance(request, PlanEdited):
            return _plan_edited(request, files, HostPlanner(request.load, language))
        if isinstance(request, Load):
            planner = HostPlanner(request, language)
            reply: _Reply = planner.load(request, serving.contents(files[0]))
        else:
            assert planner is not None
            reply = planner.plan(request, files[0])
        _flush()
        return reply

    serving.serve(channel, EDITING_REQUEST, answer)


def _text(file: int) -> str:
    return serving.contents(file).decode("utf-8", "replace")


def _plan_edited(request: PlanEdited, files: Sequence[int], planner: HostPlanner) -> PlannedEdited:
    texts, plans = files
    edited = Texts.model_validate_json(serving.contents(texts, request.bytes)).texts
    # Mapped, not written: the process's limit on the size of files is not meant for this memory.
    with mmap.mmap(plans, 0) as memory:
        def plan(number: int) -> str:
            # The child's own clocks end it, since no confined process may end another.
            for ends, clock, seconds in ((signal.SIGPROF, signal.ITIMER_PROF, request.seconds),
                                         (signal.SIGALRM, signal.ITIMER_REAL, _PATIENCE * request.seconds)):
                signal.signal(ends, signal.SIG_DFL)
                signal.setitimer(clock, seconds)
            planner.reset()
            if not isinstance(planner.load(request.load, edited[number].encode()), Loaded):
                return "0"
            with TemporaryFile() as file:
                reply = planner.plan(request.call, file.fileno())
                if not isinstance(reply, Planned) or reply.bytes > EDITED_PLAN_BYTES:
                    return "0"
                start = number * EDITED_PLAN_BYTES
                memory[start : start + reply.bytes] = os.pread(file.fileno(), reply.bytes, 0)
            return str(reply.bytes)

        shares = [range(first, len(edited), _AT_ONCE) for first in range(_AT_ONCE)]
        made = forks.outcomes(
            [partial(plan, number) for number in range(len(edited))], shares, lambda status, printed: "0")
    return PlannedEdited(seq=request.seq, plans=[
        int(made[number]) if made[number].isdecimal() else 0 for number in range(len(edited))])


def _flush() -> None:
    """Write out what the student's code has printed, before the judge looks."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            continue


class HostPlanner:
    """One submission, from its import to the plans of its calls."""

    def __init__(self, request: Load, language: Callable[[Session], HostLanguage]) -> None:
        self.session = record.begin(request.file, request.device)
        torch_cuda.install(self.session)
        self.language = language(self.session)
        audit.install(self.session)
        sys.argv = [request.file]
        DispatchMode().__enter__()  # type: ignore[no-untyped-call]
        FunctionMode().__enter__()  # type: ignore[no-untyped-call]

    def reset(self) -> None:
        """Clear all that a file has left, before another one is loaded."""
        self.session.reset()
        self.language.reset()

    def load(self, request: Load, text: bytes) -> Loaded | AbsentName | Failed:
        loaded = source.run(self.session, text, request.function, request.seq)
        if isinstance(loaded, Failed):
            return loaded
        self.loaded = loaded
        self.setup = self.session.operations
        function = vars(loaded.module).get(request.function)
        if function is None:
            if request.function in loaded.missing.names:
                absent = loaded.missing.absent(request.seq, request.function, 0)
                assert absent is not None
                return absent
            return Failed(seq=request.seq, failure="missing_function", message=f"no function {request.function}")
        self.function: Callable[..., Any] = function
        self.autograd = request.autograd
        if self.autograd:
            try:
                autograd.Contract(request.given).check(request.function, function)
            except record.AutogradError as error:
                return failures.failed(self.session, error, request.seq)
            return Loaded(seq=request.seq, skipped=loaded.skipped)
        return self._wrong_signature(request) or Loaded(seq=request.seq, skipped=loaded.skipped)

    def _wrong_signature(self, request: Load) -> Failed | None:
        if not callable(self.function):
            return Failed(
                seq=request.seq, failure="missing_function", message=f"{request.function} is not a function")
        try:
            signature = inspect.signature(self.function)
        except BaseException:
            return None
        try:
            signature.bind(*(None for _ in request.given))
        except TypeError:
            message = f"{request.function}{signature}"
        else:
            order = _permuted(request.given, [*signature.parameters])
            if not order:
                return None
            message = f"{request.function}{order}"
        code = getattr(self.function, "__code__", None)
        return Failed(
            seq=request.seq, failure="wrong_signature", line=getattr(code, "co_firstlineno", 0),
            message=failures.text(message, failures.MESSAGE))

    def plan(self, request: PlanCall, file: int) -> Planned | Refused | AbsentName | Failed:
        session = self.session
        session.copies, session.answers = request.copies, request.answers
        self._ends = time.monotonic() + request.seconds if request.seconds else inf
        self.language.begin_case()
        first = self._call(request)
        if not isinstance(first, _PlannedCall):
            return self._reply(first, file)
        second = self._call(request)
        if not isinstance(second, _PlannedCall):
            return self._reply(second, file)
        if assemble.is_earlier(session, (first.operations, second.operations)):
            return Planned(seq=request.seq, bytes=0, earlier=True)
        try:
            written = write_plan(
                assemble.Assembly(session, self.language.kernels, (first.given, second.given)).plan(
                    self.setup, first.operations, second.operations, self.language.tuners, first.returned))
            if len(written) > PLAN_BYTES:
                raise record.TooLargeError(f"a plan of {len(written):,} bytes")
        except record.TooLargeError as error:
            return failures.failed(session, error, request.seq)
        os.pwrite(file, written, 0)
        return Planned(seq=request.seq, bytes=len(written), skipped=list(session.left_out.values()))

    def _reply(self, stopped: Refused | AbsentName | Failed, file: int) -> Refused | AbsentName | Failed:
        """Return why a call stopped; the file gets the kernels of whose resources host code got a guess."""
        now = {self.session.call - 1, self.session.call}
        queries = [kernel.plan for kernel in self.language.kernels if kernel.guessed & now]
        return stopped if isinstance(stopped, AbsentName) else serving.with_resource_queries(stopped, queries, file)

    def _call(self, request: PlanCall) -> _PlannedCall | Refused | AbsentName | Failed:
        """Make one call of the function on fresh tensors."""
        session = self.session
        session.call += 1
        session.operations, session.order, session.stopped, session.over = [], StreamOrder(), None, False
        arguments = [_parameter(parameter) for parameter in request.given]
        failed: Failed | AbsentName | None = None
        returned: Literal["nothing", "out", "tensor", "other"] = "nothing"
        try:
            with _until(self._ends):
                if self.autograd:
                    arguments = autograd.Contract(request.given).call(self.function, arguments)
                else:
                    returned = _kind(self.function(*arguments))
        except BaseException as error:
            session.over = True
            failed = self._failed(request.seq, error)
        operations = session.operations
        # A finalizer of the student's runs after the call: its operations are dropped, its refusals count.
        session.operations = []
        session.over = False
        memories = [handles.memory_of(argument) for argument in arguments if isinstance(argument, torch.Tensor)]
        del arguments
        session.over = True
        stopped = session.stopped
        if stopped is not None:
            return Refused(
                seq=request.seq, why=stopped.why, operator=stopped.operator, line=stopped.line,
                traceback=stopped.traceback)
        return failed or _PlannedCall(operations, memories, returned)

    def _failed(self, seq: int, error: BaseException) -> Failed | AbsentName:
        """Return why the call failed: `AbsentName` if a name is missing because its statement was left out."""
        failed = self.language.failed(error, seq)
        for name in self.language.undefined(error):
            absent = self.loaded.missing.absent(seq, name, failed.line)
            if absent is not None:
                return absent
        return failed


@contextmanager
def _until(ends: float) -> Iterator[None]:
    """Raise TimeUpError in the student's code at the time `ends` (`monotonic`); never if that is infinity."""
    if ends == inf:
        yield
        return

    def up(*_: object) -> None:
        raise record.TimeUpError("The function runs longer than the grader's limit allows.")

    signal.signal(signal.SIGALRM, up)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, ends - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class _PlannedCall:
    """A call that has returned: its operations, the memory of its parameters, and the kind of its result."""

    def __init__(
        self, operations: list[Operation], given: list[record.Memory],
        returned: Literal["nothing", "out", "tensor", "other"],
    ) -> None:
        self.operations, self.given, self.returned = operations, given, returned


def _permuted(given: Sequence[Given], names: Sequence[str]) -> str:
    """Return the parameters of a function that takes them in another order, and the first that it takes too early; ""
    if the order is right, if the names are others, or if only numbers of one type are exchanged: names do not matter.
    """
    kinds = {parameter.name: parameter.kind if isinstance(parameter, GivenTensor) else parameter.type
             for parameter in given}
    early = next((pair for pair in zip(names, kinds, strict=False) if pair[0] != pair[1]), None)
    if early is None or sorted(names) != sorted(kinds) or all(
            kinds[name] == kinds[other] != "tensor" for name, other in zip(names, kinds, strict=True) if name != other):
        return ""
    return f"({', '.join(names)}), which takes {early[0]} before {early[1]}"


def _parameter(given: Given) -> Any:
    if isinstance(given, GivenScalar):
        return given.value
    return handles.parameter_handle(given)


def _kind(value: Any) -> Literal["nothing", "out", "tensor", "other"]:
    """Return the kind of a call's result."""
    if value is None:
        return "nothing"
    if isinstance(value, torch.Tensor):
        return "out" if handles.memory_of(value).output else "tensor"
    return "other"
