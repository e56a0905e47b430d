"""The messages between the judge and an executor, which is our own code and trusted as far as its kernels let it be.

What is large travels in memory files beside a message: plans with their machine code, slots, sources of baselines.
Programs (a plan or a baseline), slots and captures are numbered from 0 in the order in which they were sent.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from grader.plan.compiled import Binary
from grader.plan.messages import Given
from grader.plan.plan import DType, Line, Name, Plan, Shape, Shaped, Size, Text
from grader.plan.wire import Message

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

class ProgramText(Shaped):
    """A plan, and the machine code of its kernels in the plan's order."""

    plan: Plan
    binaries: list[Binary]


class DeviceBlock(Shaped):
    """Device memory of the judge's behind a raw IPC handle, 64 bytes in hexadecimal."""

    kind: Literal["device"] = "device"
    handle: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    bytes: Size


class HostBlock(Shaped):
    """Host memory of the judge's in a memory file: descriptor number `descriptor` of the frame. A `pinned` one is
    registered with the driver, as `pin_memory` memory is."""

    kind: Literal["host"] = "host"
    descriptor: Size
    bytes: Size
    pinned: bool = False


class Placed(Shaped):
    """A tensor `offset` bytes into a block: contiguous, or with these strides, in elements."""

    block: Size
    offset: Size
    shape: Shape
    dtype: DType
    strides: Shape = []


class Slots(Shaped):
    """Memory for calls: for each slot its tensors by the name of the parameter."""

    blocks: list[Annotated[DeviceBlock | HostBlock, Field(discriminator="kind")]]
    slots: list[dict[Name, Placed]]


class LookAt(Shaped):
    """A copy of single elements, made in the same stream after the last slot: elements of block `source`, taken as one
    flat tensor of `target`'s dtype, at `positions` (int64), to `target`. Both have one dimension and equal length."""

    source: Size
    positions: Placed
    target: Placed


# judge -> executor


class LoadPlan(Message):
    """A request to load the kernels of the `ProgramText` of `bytes` bytes in descriptor 0."""

    op: Literal["load_plan"] = "load_plan"
    bytes: Size


class LoadBaseline(Message):
    """A request to run the file of ours whose source is descriptor 0, and to find its function, which takes `given` in
    that order.

    What PyTorch compiles is kept in the folder `cache`, for this process and later ones.
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
    """A request to run a program once on a slot, temporaries poisoned before. Of a plan, `call` 1 is the steady one,
    after setup and a first call on slot `first`, which holds other contents."""

    op: Literal["run"] = "run"
    program: Size
    slot: Size
    call: Literal[0, 1] = 0
    first: Size = 0


class Capture(Message):
    """A request to prepare a program's calls on these slots, in this order, for `Replay`: as one CUDA graph, if it can
    be had. No slots make an empty one. Of a plan the steady call is taken, if it has one, after a first call on the
    first slot."""

    op: Literal["capture"] = "capture"
    program: Size
    slots: list[Size]
    look: LookAt | None = None


class Replay(Message):
    """A request to replay a capture."""

    op: Literal["replay"] = "replay"
    capture: Size


class Profile(Message):
    """A request to make a program's calls on a slot, and to say which kernels they launch."""

    op: Literal["profile"] = "profile"
    program: Size
    slot: Size


ExecutorRequest = LoadPlan | LoadBaseline | Bind | Run | Capture | Replay | Profile


# executor -> judge


class ProgramReady(Message):
    """An answer that what was asked is done. `number` is that of the program made. The first, without being asked, with
    the number 0: there is a CUDA context."""

    op: Literal["ready"] = "ready"
    number: Size = 0


class Captured(Message):
    """An answer to `Capture`. `graph`: the calls are one CUDA graph; without, the host makes them one after another."""

    op: Literal["captured"] = "captured"
    number: Size
    graph: bool


class CallEnded(Message):
    """An answer to `Run`: `touched` are the plan's temporaries, by index, around which a kernel wrote out of bounds."""

    op: Literal["ran"] = "ran"
    touched: Annotated[list[Size], Field(max_length=64)] = []


class Replayed(Message):
    """An answer to `Replay`: seconds from the launch to the end of the last copy by the host's clock, and by the
    device's, which is the same where the host makes the calls."""

    op: Literal["replayed"] = "replayed"
    host: Seconds
    device: Seconds


class Launched(Shaped):
    """A kernel, or a copy or fill of the driver's, as the profiler names it: its `seconds` and launches in a call."""

    name: Annotated[str, Field(max_length=500)]
    seconds: Seconds
    count: Annotated[float, Field(ge=0)]


class Profiled(Message):
    """An answer to `Profile`: what takes longest comes first."""

    op: Literal["profiled"] = "profiled"
    launched: Annotated[list[Launched], Field(max_length=32)]


FaultKind = Literal[
    "illegal_address", "misaligned_address", "launch_failure", "out_of_resources", "out_of_memory", "other"]
"""The errors that CUDA reports: an access to memory that is not allocated, or at a misaligned address, a kernel that
trapped (an assertion, an instruction that is none), a launch that asks for more than the device has, memory used up."""


class Fault(Message):
    """An error that CUDA has reported. After most of them the context is lost; the executor ends by itself, after each.

    `kernel` and `line` where one launch alone can be meant.
    """

    op: Literal["fault"] = "fault"
    kind: FaultKind
    message: Text
    kernel: Name = ""
    line: Line = 0


class Broken(Message):
    """A failure of ours: no device, or an exception that no kernel has caused. The executor ends by itself."""

    op: Literal["broken"] = "broken"
    message: Text


ExecutorReply = ProgramReady | Captured | CallEnded | Replayed | Profiled | Fault | Broken

EXECUTOR_REQUEST: TypeAdapter[ExecutorRequest] = TypeAdapter(Annotated[ExecutorRequest, Field(discriminator="op")])
EXECUTOR_REPLY: TypeAdapter[ExecutorReply] = TypeAdapter(Annotated[ExecutorReply, Field(discriminator="op")])
