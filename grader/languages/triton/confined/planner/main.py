"""Triton's planner: host code in Python, whose kernels Triton's front end lowers."""

from __future__ import annotations

import os

import triton
import triton.language as tl

from grader.host import planner
from grader.host.record import Session
from grader.languages.triton.confined import api
from grader.languages.triton.confined.edits import edits_of
from grader.languages.triton.confined.planner import driver, failures, rehearsal
from grader.languages.triton.confined.planner.launches import CompiledKernel, lower
from grader.plan.device import DEFAULT_TARGET
from grader.plan.frames import Channel
from grader.plan.messages import Failed
from grader.plan.plan import Tuner


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


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    planner.serve(channel, TritonHost, lambda request, text: edits_of(
        text, request.function, request.given, lines=request.lines))


def _rehearsing() -> tuple[rehearsal.Loading, rehearsal.Planning]:
    host_planner = planner.HostPlanner(rehearsal.LOAD, TritonHost)
    return host_planner.load, host_planner.plan


class TritonHost:
    """Triton, as host code launches it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.lowering, self.tuning = driver.install(session)

    @property
    def kernels(self) -> list[CompiledKernel]:
        return self.lowering.kernels

    @property
    def tuners(self) -> list[Tuner]:
        return self.tuning.met

    def reset(self) -> None:
        self.lowering.reset()
        self.tuning.reset()

    def begin_case(self) -> None:
        self.tuning.reset()

    def failed(self, error: BaseException, seq: int) -> Failed:
        return failures.failed(self.session, error, self.lowering.failure, seq)

    def undefined(self, error: BaseException) -> list[str]:
        return failures.undefined(error)
