"""Rehearsal: a submission of ours that is planned once, in the process that planners are forked from. A change of
Triton's private interfaces, or of the texts that it writes, is found before a student is graded, and is no student's
mistake.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path

from grader.languages.triton.text import read_kernel
from grader.plan.device import DEFAULT_TARGET, TARGETS
from grader.plan.messages import AbsentName, Failed, Given, GivenTensor, Load, Loaded, PlanCall, Planned, Refused
from grader.plan.plan import read_plan

FUNCTION = "rehearsal"
# The parts of Triton that students use and the grader depends on: an autotuner, a grid of its configuration,
# heuristics, a descriptor of the host's, a barrier, the resources of a compiled kernel, a kernel in Gluon.
SOURCE = b"""
import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, num_warps=8)], key=["n"])
@triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
@triton.jit
def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.debug_barrier()
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)

@triton.jit
def described(x, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets[:, None] * BLOCK + offsets[None, :], x.load([0, 0]))

@gluon.jit
def laid_out(out_ptr, BLOCK: gl.constexpr):
    gl.store(out_ptr + gl.arange(0, BLOCK, layout=gl.BlockedLayout([1], [32], [4], [0])), 0.0)

def rehearsal(x, out):
    n = x.numel()
    tuned[lambda given: (triton.cdiv(n, given["BLOCK"]),)](x, out, n)
    compiled = described[(1,)](TensorDescriptor.from_tensor(x.view(-1, 16), [16, 16]), out, BLOCK=16)
    laid_out.warmup(out, BLOCK=128, grid=(1,))
    torch.empty(compiled.n_regs + compiled.n_spills + compiled.metadata.shared, device="cuda")
"""
SIZE = 1024
_GIVEN: list[Given] = [
    GivenTensor(name=name, shape=[SIZE], dtype="float32", place="device", output=name == "out")
    for name in ("x", "out")]
LOAD = Load(seq=0, file=f"{FUNCTION}.py", function=FUNCTION, device=TARGETS[DEFAULT_TARGET], given=_GIVEN)
CALL = PlanCall(seq=1, given=_GIVEN, copies=False)
_ROOT = Path(__file__).resolve().parents[5]

Loading = Callable[[Load, bytes], Loaded | AbsentName | Failed]
Planning = Callable[[PlanCall, int], Planned | Refused | AbsentName | Failed]


class RehearsalError(Exception):
    """An error: this version of Triton or PyTorch differs from what the planner needs; the message is one line."""


def rehearse(planner: Callable[[], tuple[Loading, Planning]]) -> None:
    """Plan the rehearsal in a child, since a planner changes its process. Raises RehearsalError."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            os.write(writing, _trouble(planner).encode(errors="replace")[:1000])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as text:
        trouble = text.read()
    _, status = os.waitpid(pid, 0)
    if trouble != "none":
        raise RehearsalError(trouble or f"a kernel is not planned: the process ended with status {status}")


def _trouble(planner: Callable[[], tuple[Loading, Planning]]) -> str:
    try:
        load, plan = planner()
        file = os.memfd_create(FUNCTION)
        for answer in (load(LOAD, SOURCE), plan(CALL, file)):
            if isinstance(answer, Refused):
                return f"a kernel is not planned: {answer.why} {answer.operator}, line {answer.line}"
            if isinstance(answer, (AbsentName, Failed)):
                return f"a kernel is not planned: {answer.message if isinstance(answer, Failed) else answer.name}"
            if isinstance(answer, Planned):
                kernels = read_plan(os.pread(file, answer.bytes, 0)).kernels
                for kernel in kernels:
                    read_kernel(kernel)
                return "none" if len(kernels) > 1 else "a kernel is not planned"
    except BaseException as error:
        return _said_of(error)
    return "a kernel is not planned"


def _said_of(error: BaseException) -> str:
    """Return an exception in words, with the last of our lines that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    passed = [frame for frame in frames if frame.filename.startswith(f"{_ROOT}/grader")]
    where = f" ({Path(passed[-1].filename).relative_to(_ROOT)}, line {passed[-1].lineno})" if passed else ""
    return " ".join(f"{type(error).__name__}: {error}{where}".split())
