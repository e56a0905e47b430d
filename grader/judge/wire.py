"""The messages between judge, zygote and worker: JSON lines of fixed shape, and file descriptors beside them.

Every frame is one line of JSON with a sequence number. What comes from a worker is hostile: it is capped, parsed into
exactly these shapes, and its texts are quoted, never believed. Nothing is pickled.
"""

from __future__ import annotations

import os
import select
import socket
import time
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

FRAME_BYTES = 64 * 1024
TOTAL_BYTES = 1024 * 1024
MAX_DESCRIPTORS = 16
QUOTED = 200

Text = Annotated[str, Field(max_length=20_000)]
DType = Literal["float32", "float16"]
Line = Annotated[int, Field(ge=0, le=10_000_000)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    seq: int


# The words of the clock's page, 64 bits each: the worker is ready for a batch, may begin it, and has finished it.
READY, GO, DONE = 0, 8, 16
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

    Only with `record` is what runs recorded, which takes time.
    """

    op: Literal["batch"] = "batch"
    which: Annotated[int, Field(ge=0)] = 0
    number: Annotated[int, Field(ge=1)]
    slots: list[int]
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


class Settings(BaseModel):
    """What a zygote is started with, as JSON on its command line: nothing in it is secret.

    `home` is an empty folder of its own, `readable` are the paths that workers may read, `devices` the device nodes.
    A `bare` zygote imports neither torch nor triton: its workers can only be probed.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    control: int
    interpret: bool
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

M = TypeVar("M", bound=Message)


class ChannelError(Exception):
    """The other side broke the protocol; the text says how."""


class ChannelClosed(ChannelError):
    """The other side is gone."""


class ChannelTimeout(ChannelError):
    """No frame before the deadline."""


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a channel. A packet socket keeps frames apart, so that no half frame can be left in the stream."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Channel:
    """One end of a channel: frames of JSON, at most `FRAME_BYTES` each and `limit` bytes received in all."""

    def __init__(self, sock: socket.socket, *, limit: int | None = None) -> None:
        self.sock = sock
        self._limit = self._left = limit

    def fileno(self) -> int:
        return self.sock.fileno()

    def close(self) -> None:
        self.sock.close()

    def renew(self) -> None:
        """Counts anew: the other side has kept to the protocol so far."""
        self._left = self._limit

    def send(self, message: Message, descriptors: list[int] | None = None, *, seconds: float = 5) -> None:
        """Raises ChannelClosed if the other side is gone, ChannelTimeout if it does not read."""
        frame = message.model_dump_json().encode() + b"\n"
        if len(frame) > FRAME_BYTES:
            raise ChannelError(f"a frame of {len(frame)} bytes exceeds the cap of {FRAME_BYTES}")
        try:
            self.sock.settimeout(seconds)
            socket.send_fds(self.sock, [frame], descriptors or [])
        except TimeoutError:
            raise ChannelTimeout("the other side does not read") from None
        except OSError as error:
            raise ChannelClosed(str(error)) from None

    def receive(
        self, shape: TypeAdapter[M], *, seq: int | None, deadline: float, descriptors: list[int] | None = None
    ) -> M:
        """The next frame, of one of `shape`'s types and with number `seq`, before `deadline` (time.monotonic).

        Descriptors that come with it are added to `descriptors`; without such a list the kernel closes them.
        """
        if self.sock.fileno() < 0:
            raise ChannelClosed("this side is closed")
        # Not select, which takes no descriptor beyond 1023.
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise ChannelTimeout("no answer before the deadline")
        frame, came = self._read(MAX_DESCRIPTORS if descriptors is not None else 0)
        try:
            message = self.parse(shape, frame, seq)
        except ChannelError:
            _close(came)
            raise
        if descriptors is not None:
            descriptors += came
        return message

    def receive_with_descriptors(self, shape: TypeAdapter[M]) -> tuple[M, list[int]]:
        """The next frame and its descriptors, however long it takes. For the side that serves."""
        self.sock.settimeout(None)
        frame, descriptors = self._read(MAX_DESCRIPTORS)
        try:
            return self.parse(shape, frame, None), descriptors
        except ChannelError:
            _close(descriptors)
            raise

    def _read(self, max_descriptors: int = 0) -> tuple[bytes, list[int]]:
        try:
            if max_descriptors:
                frame, descriptors, flags, _ = socket.recv_fds(self.sock, FRAME_BYTES + 1, max_descriptors)
            else:
                frame, _, flags, _ = self.sock.recvmsg(FRAME_BYTES + 1)
                descriptors = []
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        if not frame:
            raise ChannelClosed("the other side closed the channel")
        if self._left is not None:
            self._left -= len(frame)
        if len(frame) > FRAME_BYTES or flags & socket.MSG_TRUNC or (self._left is not None and self._left < 0):
            _close(descriptors)
            raise ChannelError("frame or total size over the cap")
        return frame, descriptors

    @staticmethod
    def parse(shape: TypeAdapter[M], frame: bytes, seq: int | None) -> M:
        """A frame as one of the fixed shapes. Raises ChannelError for anything else, whatever the bytes."""
        if not frame.endswith(b"\n") or b"\n" in frame[:-1]:
            raise ChannelError("one line of JSON expected")
        try:
            message = shape.validate_json(frame)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise ChannelError(f"not a known message: {_quoted(first['msg'])}") from None
        except (ValueError, RecursionError) as error:
            raise ChannelError(f"not a known message: {type(error).__name__}") from None
        if seq is not None and message.seq != seq:
            raise ChannelError(f"sequence number {message.seq} where {seq} was expected")
        return message


def _quoted(text: str) -> str:
    """What may hold the other side's bytes, short and printable."""
    text = text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
    return "".join(character if character.isprintable() else "�" for character in text)


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
