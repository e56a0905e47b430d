"""The planner: runs a submission's file and calls its function on tensors without numbers, to see what it launches.

It shares its process with the student's code, so nothing it says is believed: a plan is data that the judge checks.
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
from math import inf
from tempfile import TemporaryFile
from typing import Any, Literal

import torch
import triton
import triton.language as tl

from grader.frontends import serving
from grader.frontends.triton import api
from grader.frontends.triton.edits import edits_of
from grader.frontends.triton.planner import (
    assemble,
    audit,
    driver,
    editing,
    failures,
    handles,
    record,
    rehearsal,
    source,
)
from grader.frontends.triton.planner.functions import FunctionMode
from grader.frontends.triton.planner.launches import Lowering, lower
from grader.plan.device import DEFAULT_TARGET
from grader.plan.frames import Channel
from grader.plan.messages import (
    EDITED_PLAN_BYTES,
    EDITING_REQUEST,
    Absent,
    Failed,
    Given,
    GivenScalar,
    GivenTensor,
    Kernels,
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
from grader.plan.plan import MOST_KERNELS, PLAN_BYTES, Operation, write_plan
from grader.plan.streams import StreamOrder

_Reply = Loaded | Planned | Refused | Absent | Failed


@triton.jit  # type: ignore[untyped-decorator]
def _trivial(x_ptr, out_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + tl.sigmoid(x), mask=offsets < n)


def prepare() -> None:
    """Lower a first kernel in the process that planners are forked from, so that no planner pays for that, and check
    that a kernel can be planned. Raises RehearsalError."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    target = api.target_of(int(DEFAULT_TARGET.removeprefix("sm_")))
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    api.parse_once()
    str(lower(api.ASTSource(_trivial, signature, {(3,): 64}), api.make_backend(target).parse_options({}), target))
    rehearsal.rehearse(_rehearsing)


def _rehearsing() -> tuple[rehearsal.Loading, rehearsal.Planning]:
    planner = _Planner(rehearsal.LOAD)
    return planner.load, planner.plan


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    planner: _Planner | None = None

    def answer(
        request: Load | PlanCall | ListEdits | PlanEdited, files: Sequence[int]
    ) -> _Reply | Listed | PlannedEdited:
        nonlocal planner
        if isinstance(request, ListEdits):
            found = edits_of(_text(files[0]), request.function, request.given, lines=request.lines)
            written = found.model_dump_json().encode()
            return Listed(seq=request.seq, bytes=os.pwrite(files[1], written, 0))
        if isinstance(request, PlanEdited):
            return _plan_edited(request, files)
        if isinstance(request, Load):
            planner = _Planner(request)
            reply: _Reply = planner.load(request, serving.contents(files[0]))
        else:
            assert planner is not None
            reply = planner.plan(request, files[0])
        _flush()
        return reply

    serving.serve(channel, EDITING_REQUEST, answer)


def _text(file: int) -> str:
    return serving.contents(file).decode("utf-8", "replace")


def _plan_edited(request: PlanEdited, files: Sequence[int]) -> PlannedEdited:
    texts, plans = files
    planner = _Planner(request.load)
    found = Texts.model_validate_json(serving.contents(texts, request.bytes)).texts
    # Mapped, not written: the process's limit on the size of files is not meant for this memory.
    with mmap.mmap(plans, 0) as memory:
        def plan(number: int, text: bytes) -> int:
            planner.forget()
            if not isinstance(planner.load(request.load, text), Loaded):
                return 0
            with TemporaryFile() as file:
                reply = planner.plan(request.call, file.fileno())
                if not isinstance(reply, Planned) or reply.bytes > EDITED_PLAN_BYTES:
                    return 0
                start = number * EDITED_PLAN_BYTES
                memory[start : start + reply.bytes] = os.pread(file.fileno(), reply.bytes, 0)
            return reply.bytes

        return PlannedEdited(seq=request.seq, plans=editing.planned(found, request.seconds, plan))


def _flush() -> None:
    """Write out what the student's code has printed, before the judge looks."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            continue


class _Planner:
    """One submission, from its import to the plans of its calls."""

    def __init__(self, request: Load) -> None:
        self.session = record.begin(request.file, request.device)
        self.lowering: Lowering
        self.lowering, self.tuning = driver.install(self.session)
        audit.install(self.session)
        sys.argv = [request.file]
        handles.DispatchMode().__enter__()  # type: ignore[no-untyped-call]
        FunctionMode().__enter__()  # type: ignore[no-untyped-call]

    def forget(self) -> None:
        """Forget a file, before another one is loaded."""
        self.session.begin_anew()
        self.lowering.forget()
        self.tuning.forget()

    def load(self, request: Load, text: bytes) -> Loaded | Absent | Failed:
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
            said = f"{request.function}{signature}"
        else:
            order = _permuted(request.given, [*signature.parameters])
            if not order:
                return None
            said = f"{request.function}{order}"
        code = getattr(self.function, "__code__", None)
        return Failed(
            seq=request.seq, failure="wrong_signature", line=getattr(code, "co_firstlineno", 0),
            message=failures.text(said, failures.MESSAGE))

    def plan(self, request: PlanCall, file: int) -> Planned | Refused | Absent | Failed:
        session = self.session
        session.copies, session.answers = request.copies, request.answers
        self._ends = time.monotonic() + request.seconds if request.seconds else inf
        self.tuning.forget()
        first = self._call(request)
        if not isinstance(first, _Called):
            return self._asking(first, file)
        second = self._call(request)
        if not isinstance(second, _Called):
            return self._asking(second, file)
        if assemble.is_earlier(session, (first.operations, second.operations)):
            return Planned(seq=request.seq, bytes=0, earlier=True)
        try:
            written = write_plan(
                assemble.Assembly(session, self.lowering.kernels, (first.given, second.given)).plan(
                    self.setup, first.operations, second.operations, self.tuning.met, first.returned))
            if len(written) > PLAN_BYTES:
                raise record.TooLargeError(f"a plan of {len(written):,} bytes")
        except record.TooLargeError as error:
            return failures.failed(session, error, None, request.seq)
        os.pwrite(file, written, 0)
        return Planned(seq=request.seq, bytes=len(written), skipped=list(session.left_out.values()))

    def _asking(self, stopped: Refused | Absent | Failed, file: int) -> Refused | Absent | Failed:
        """Return why a call stopped, and write to the file the kernels of whose resources host code got a guess."""
        now = {self.session.call - 1, self.session.call}
        asked = [one.plan for one in self.lowering.kernels if one.guessed & now][:MOST_KERNELS]
        written = Kernels(kernels=asked).model_dump_json().encode()
        if not asked or isinstance(stopped, Absent) or len(written) > PLAN_BYTES:
            return stopped
        os.pwrite(file, written, 0)
        return stopped.model_copy(update={"asked": len(written)})

    def _call(self, request: PlanCall) -> _Called | Refused | Absent | Failed:
        """Make one call of the function on fresh tensors."""
        session = self.session
        session.call += 1
        session.operations, session.order, session.stopped, session.over = [], StreamOrder(), None, False
        arguments = [_parameter(one) for one in request.given]
        memories = [handles.memory_of(one) for one in arguments if isinstance(one, handles.Handle)]
        failed: Failed | Absent | None = None
        returned: Literal["nothing", "out", "tensor", "other"] = "nothing"
        try:
            with _until(self._ends):
                returned = _kind(self.function(*arguments))
        except BaseException as error:
            session.over = True
            failed = self._failed(request.seq, error)
        operations = session.operations
        # A finalizer of the student's runs after the call: its operations are dropped, its refusals count.
        session.operations = []
        session.over = False
        del arguments
        session.over = True
        stopped = session.stopped
        if stopped is not None:
            return Refused(
                seq=request.seq, why=stopped.why, operator=stopped.operator, line=stopped.line,
                traceback=stopped.traceback)
        return failed or _Called(operations, memories, returned)

    def _failed(self, seq: int, error: BaseException) -> Failed | Absent:
        """Return why the call failed: `Absent` if a name is missing because its statement was left out."""
        failed = failures.failed(self.session, error, self.lowering.failure, seq)
        for name in failures.undefined(error):
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


class _Called:
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
    kinds = {one.name: one.kind if isinstance(one, GivenTensor) else one.type for one in given}
    early = next((pair for pair in zip(names, kinds, strict=False) if pair[0] != pair[1]), None)
    if early is None or sorted(names) != sorted(kinds) or all(
            kinds[one] == kinds[other] != "tensor" for one, other in zip(names, kinds, strict=True) if one != other):
        return ""
    return f"({', '.join(names)}), which takes {early[0]} before {early[1]}"


def _parameter(given: Given) -> Any:
    if isinstance(given, GivenScalar):
        return given.value
    return handles.given(given)


def _kind(value: Any) -> Literal["nothing", "out", "tensor", "other"]:
    """Return the kind of a call's result."""
    if value is None:
        return "nothing"
    if isinstance(value, torch.Tensor):
        return "out" if handles.memory_of(value).output else "tensor"
    return "other"


