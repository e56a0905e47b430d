"""The messages between judge, zygote and worker, as shapes; how they travel is `grader.plan.frames`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Text = Annotated[str, Field(max_length=20_000)]
DType = Literal["float32", "float16"]
Line = Annotated[int, Field(ge=0, le=10_000_000)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    seq: int


# The words of the clock's page, 64 bits each, a cache line apart: the worker is at its marks for a batch, the inputs
# are set (its number made negative: there will be none), the worker is ready, may go, is done.
MARKS, SET, READY, GO, DONE = 0, 8, 16, 24, 32
PAGE_BYTES = 4096


# judge -> worker


class HostArgument(Message):
    """A CPU tensor in the shared memory of descriptor number `descriptor` of the same frame."""

    seq: int = 0
    kind: Literal["host"] = "host"
    descriptor: int
    shape: list[int]
    dtype: DType


class DeviceArgument(Message):
    """A CUDA tensor behind a raw IPC handle, 64 bytes in hexadecimal."""

    seq: int = 0
    kind: Literal["device"] = "device"
    handle: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    shape: list[int]
    dtype: DType


class DeviceArray:
    """Device memory as torch takes it in, on either side: the CUDA array interface, version 3 (Numba's documentation).

    `torch.as_tensor(DeviceArray(…), device="cuda")` looks into that memory; it copies nothing.
    """

    def __init__(self, pointer: int, shape: list[int], dtype: DType) -> None:
        element = {"float32": "<f4", "float16": "<f2"}[dtype]
        self.__cuda_array_interface__ = {
            "version": 3, "data": (int(pointer), False), "shape": tuple(shape), "typestr": element}


class ScalarArgument(Message):
    seq: int = 0
    kind: Literal["scalar"] = "scalar"
    value: float


Argument = Annotated[HostArgument | DeviceArgument | ScalarArgument, Field(discriminator="kind")]


class Load(Message):
    """Run the submission's file, whose source is descriptor 0, and find its function.

    A student's worker is sent one. Functions are numbered from 0 in the order of loading. `record` what they run.
    """

    op: Literal["load"] = "load"
    file: str
    function: str
    parameters: list[str]
    max_programs: int
    device: Literal["cpu", "cuda"] = "cpu"
    record: bool = True


class Call(Message):
    """Call the function once; tensors are in the descriptors."""

    op: Literal["call"] = "call"
    arguments: list[Argument]


class Clock(Message):
    """Map the page that descriptor 0 holds; batches are started and ended through it, see `grader.judge.clock`."""

    op: Literal["clock"] = "clock"


class Map(Message):
    """Keep these arguments for batches, as slot number `slot`; slot 0 first drops those there are."""

    op: Literal["map"] = "map"
    slot: Annotated[int, Field(ge=0)]
    arguments: list[Argument]


class Unmap(Message):
    """Let go of every slot: their memory is about to be given back."""

    op: Literal["unmap"] = "unmap"


class Batch(Message):
    """Wait for `number` in the page, call function number `which` once on each of these slots, write `number` back.

    The function is called on the slots `warm` too, before the worker is ready. Only with `record` is what runs
    recorded, which takes time.
    """

    op: Literal["batch"] = "batch"
    which: Annotated[int, Field(ge=0)] = 0
    number: Annotated[int, Field(ge=1)]
    slots: list[int]
    warm: list[int] = []
    record: bool = False


class Probe(Message):
    """Try what a submission must not manage, and say what worked. Only a worker without a submission is asked.

    `secret` is a file of the grader's user alone, `target` one that is not there yet, `course` one of the course that
    all may read, `port` a TCP port of the loopback device that listens, `socket` an abstract unix address that does.
    `needed` are files it has to be able to read.
    """

    op: Literal["probe"] = "probe"
    secret: str
    target: str
    course: str
    port: int
    socket: str
    needed: list[str]
    cuda: bool


Request = Annotated[Load | Call | Clock | Map | Unmap | Batch | Probe, Field(discriminator="op")]


# worker -> judge


class OperatorUse(BaseModel):
    """A dispatched PyTorch operator (`aten::mm`), or a way out of PyTorch (`numpy`, `tolist`), outside a kernel."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    name: Annotated[str, Field(max_length=200)]
    line: Line
    count: Annotated[int, Field(ge=1)]


class KernelUse(BaseModel):
    """A launched Triton kernel, with the number of its program instances."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    name: Annotated[str, Field(max_length=200)]
    line: Line
    programs: Annotated[int, Field(ge=0)]


WorkerFailure = Literal[
    "syntax_error", "import_error", "missing_function", "wrong_signature", "not_attempted",
    "exception", "out_of_memory", "too_many_programs", "out_of_bounds", "unsupported", "device_fault",
]


class Entered(Message):
    """The worker is inside its sandbox; nothing of a submission has been read yet."""

    op: Literal["entered"] = "entered"


class Probed(Message):
    """What a worker managed that it must not, and what it failed in that it needs."""

    op: Literal["probed"] = "probed"
    managed: list[Text]
    trouble: Text


class Loaded(Message):
    op: Literal["loaded"] = "loaded"


class Done(Message):
    op: Literal["done"] = "done"
    operators: Annotated[list[OperatorUse], Field(max_length=256)]
    kernels: Annotated[list[KernelUse], Field(max_length=256)]


class Failed(Message):
    """The submission failed by its own account: an exception, with its place in the student's file."""

    op: Literal["failed"] = "failed"
    failure: WorkerFailure
    message: Text
    line: Line = 0
    traceback: Text = ""


Reply = Annotated[Loaded | Done | Failed, Field(discriminator="op")]


# judge <-> zygote: the zygote is ours, but the frames are the same


class Limits(BaseModel):
    """What one worker may use. Sizes in MiB and KiB, times in seconds."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    memory_mb: Annotated[int, Field(ge=256)]
    cuda: bool = False
    file_mb: Annotated[int, Field(ge=1)]
    processes: Annotated[int, Field(ge=1)]
    cpu_seconds: Annotated[int, Field(ge=1)]


class Layers(BaseModel):
    """What keeps workers apart from the grader, beyond a process, a folder and limits of their own."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    # Around the zygote by bubblewrap, and again around each worker.
    namespaces: bool = False
    # Another user for the worker, if the zygote's may choose.
    uid: Annotated[int, Field(ge=1, lt=2**32 - 1)] | None = None
    landlock: bool = False
    seccomp: bool = False


Role = Literal["worker", "planner", "simulator", "compiler", "executor"]
"""What a forked process is for: `grader.<role>.main` serves."""


class Settings(BaseModel):
    """What a zygote is started with, as JSON on its command line: nothing in it is secret.

    `home` is an empty folder of its own, `readable` are the paths that workers may read, `devices` the device nodes.
    A `bare` zygote imports neither torch nor triton: its workers can only be probed. `roles` are what it prepares for.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    control: int
    interpret: bool
    roles: list[Role] = ["worker"]
    bare: bool
    home: str
    path: list[str]
    readable: list[str]
    devices: list[str]
    layers: Layers


class Spawn(Message):
    """Fork a worker. Descriptors: its control socket, its output pipe."""

    op: Literal["spawn"] = "spawn"
    limits: Limits
    role: Role = "worker"


class Reap(Message):
    """Kill the worker and everything it started; answer when none of it is left."""

    op: Literal["reap"] = "reap"


class Ready(Message):
    """The zygote has imported what workers need. Descriptor: its pidfd, since its number depends on who looks."""

    op: Literal["ready"] = "ready"
    python: str
    torch: str
    triton: str
    numpy: str


class Spawned(Message):
    """Descriptor: the worker's pidfd."""

    op: Literal["spawned"] = "spawned"


class Reaped(Message):
    """How the worker ended, and how many other processes of its tree had to be killed or outlived the attempt."""

    op: Literal["reaped"] = "reaped"
    exit_code: int | None = None
    signal: int | None = None
    killed: int = 0
    survivors: int = 0


ZygoteRequest = Annotated[Spawn | Reap, Field(discriminator="op")]
ZygoteReply = Annotated[Ready | Spawned | Reaped, Field(discriminator="op")]

REQUEST: TypeAdapter[Load | Call | Clock | Map | Unmap | Batch | Probe] = TypeAdapter(Request)
ENTERED: TypeAdapter[Entered] = TypeAdapter(Entered)
PROBED: TypeAdapter[Probed] = TypeAdapter(Probed)
REPLY: TypeAdapter[Loaded | Done | Failed] = TypeAdapter(Reply)
ZYGOTE_REQUEST: TypeAdapter[Spawn | Reap] = TypeAdapter(ZygoteRequest)
ZYGOTE_REPLY: TypeAdapter[Ready | Spawned | Reaped] = TypeAdapter(ZygoteReply)
