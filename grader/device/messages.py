"""The messages between the judge and an executor. The executor is our own code, but the kernels that it runs may
corrupt it.

Large data travels in memory files beside a message: plans with their machine code, slots, sources of baselines.
Programs (a plan or a baseline), slots and captures are numbered from 0, each in the order in which they were sent.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from grader.plan.compiled import Binary
from grader.plan.messages import Given
from grader.plan.plan import DType, Line, Name, Plan, Shape, Size, StrictModel, Text
from grader.plan.wire import Message

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

class ProgramText(StrictModel):
    """A plan, and the machine code of its kernels in the plan's order."""

    plan: Plan
    binaries: list[Binary]


class DeviceBlock(StrictModel):
    """Device memory of the judge, behind a raw IPC handle: 64 bytes in hexadecimal."""

    kind: Literal["device"] = "device"
    handle: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    bytes: Size


class HostBlock(StrictModel):
    """Host memory of the judge in a memory file: descriptor number `descriptor` of the frame. A `pinned` block is
    registered with the driver, as memory from `pin_memory` is."""

    kind: Literal["host"] = "host"
    descriptor: Size
    bytes: Size
    pinned: bool = False


class PlacedTensor(StrictModel):
    """A tensor that begins `offset` bytes into a block: contiguous, or with these strides, in elements."""

    block: Size
    offset: Size
    shape: Shape
    dtype: DType
    strides: Shape = []


class Slots(StrictModel):
    """Memory for calls: each slot has a tensor for each parameter's name."""

    blocks: list[Annotated[DeviceBlock | HostBlock, Field(discriminator="kind")]]
    slots: list[dict[Name, PlacedTensor]]


class ElementCopy(StrictModel):
    """A copy of single elements, made in the same stream after the last slot's call. The elements at `positions`
    (int64) of block `source`, which is taken as one flat tensor of `target`'s dtype, go to `target`. Both have one
    dimension and equal length."""

    source: Size
    positions: PlacedTensor
    target: PlacedTensor


# judge -> executor


class LoadPlan(Message):
    """A request to load the kernels of the `ProgramText` of `bytes` bytes in descriptor 0."""

    op: Literal["load_plan"] = "load_plan"
    bytes: Size


class LoadBaseline(Message):
    """A request to load our own file, whose source is descriptor 0, and to find its function, which takes the
    parameters `given` in that order.

    PyTorch's compiled code is cached in the folder `cache`, for this process and later ones.
    """

    op: Literal["load_baseline"] = "load_baseline"
    file: Name
    function: Name
    given: list[Given]
    cache: str


class Bind(Message):
    """A request to map the `Slots` of `bytes` bytes in descriptor 0. Earlier slots and captures are dropped first."""

    op: Literal["bind"] = "bind"
    bytes: Size


class Run(Message):
    """A request to run a program once on a slot, with temporaries poisoned before. For a plan, `call` 1 is the steady
    call, made after setup and after a first call on slot `first`, which holds other contents."""

    op: Literal["run"] = "run"
    program: Size
    slot: Size
    call: Literal[0, 1] = 0
    first: Size = 0


class Capture(Message):
    """A request to prepare a program's calls on these slots, in this order, for `Replay`: as one CUDA graph if
    possible. No slots make an empty graph. A plan with a steady call is captured with that one, after a first call on
    the first slot."""

    op: Literal["capture"] = "capture"
    program: Size
    slots: list[Size]
    copied: ElementCopy | None = None


class Replay(Message):
    """A request to replay a capture."""

    op: Literal["replay"] = "replay"
    capture: Size


class Profile(Message):
    """A request to make a program's calls on a slot, and to report the kernels that they launch."""

    op: Literal["profile"] = "profile"
    program: Size
    slot: Size


ExecutorRequest = LoadPlan | LoadBaseline | Bind | Run | Capture | Replay | Profile


# executor -> judge


class ProgramReady(Message):
    """An answer that a request was carried out. `number` is that of the program, if one was made. The executor sends
    the first one, with the number 0, unasked: its CUDA context is made."""

    op: Literal["ready"] = "ready"
    number: Size = 0


class Captured(Message):
    """An answer to `Capture`. `graph`: the calls are one CUDA graph; otherwise the host makes them one after
    another."""

    op: Literal["captured"] = "captured"
    number: Size
    graph: bool


class CallEnded(Message):
    """An answer to `Run`. `overruns` are the indices of the plan's temporaries around which a kernel wrote out of
    bounds."""

    op: Literal["ran"] = "ran"
    overruns: Annotated[list[Size], Field(max_length=64)] = []


class Replayed(Message):
    """An answer to `Replay`: seconds from the launch to the end of the last copy, by the host's clock and by the
    device's. Both are the host's where the host makes the calls."""

    op: Literal["replayed"] = "replayed"
    host: Seconds
    device: Seconds


class KernelTime(StrictModel):
    """A kernel, or a copy or fill of the driver, by the profiler's name: its `seconds` and its launches in a call."""

    name: Annotated[str, Field(max_length=500)]
    seconds: Seconds
    count: Annotated[float, Field(ge=0)]


class Profiled(Message):
    """An answer to `Profile`: the kernels, the slowest first."""

    op: Literal["profiled"] = "profiled"
    launched: Annotated[list[KernelTime], Field(max_length=32)]


FaultKind = Literal[
    "illegal_address", "misaligned_address", "launch_failure", "out_of_resources", "out_of_memory", "other"]
"""The kinds of errors that CUDA reports: an access to memory that is not allocated, or at a misaligned address; a
kernel that trapped (an assertion, an illegal instruction); a launch that asks for more than the device has; memory used
up."""


class Fault(Message):
    """An error that CUDA has reported. Most errors destroy the context, so the executor ends after any of them.

    `kernel` and `line` name a launch, if only one can be meant.
    """

    op: Literal["fault"] = "fault"
    kind: FaultKind
    message: Text
    kernel: Name = ""
    line: Line = 0


class ExecutorFailure(Message):
    """A failure of ours: no device, or an exception that no kernel has caused. The executor then ends."""

    op: Literal["broken"] = "broken"
    message: Text


ExecutorReply = ProgramReady | Captured | CallEnded | Replayed | Profiled | Fault | ExecutorFailure

EXECUTOR_REQUEST: TypeAdapter[ExecutorRequest] = TypeAdapter(Annotated[ExecutorRequest, Field(discriminator="op")])
EXECUTOR_REPLY: TypeAdapter[ExecutorReply] = TypeAdapter(Annotated[ExecutorReply, Field(discriminator="op")])
