"""The messages between judge and zygote, and the shape of all messages; how they travel is `grader.plan.frames`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Text = Annotated[str, Field(max_length=20_000)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    seq: int


# judge -> probe


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


# probe -> judge


class Entered(Message):
    """The worker is inside its sandbox; nothing of a submission has been read yet."""

    op: Literal["entered"] = "entered"


class Probed(Message):
    """What a worker managed that it must not, and what it failed in that it needs."""

    op: Literal["probed"] = "probed"
    managed: list[Text]
    trouble: Text


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


Part = Literal["planner", "simulator", "compiler"]
"""What a front end runs in confined processes."""
Role = Annotated[str, Field(max_length=40)]
"""What a forked process is for, a part of a front end among them (`<its folder>/planner`): `main` of that folder
serves, but for a probe, which is asked what it manages."""


class Settings(BaseModel):
    """What a zygote is started with, as JSON on its command line: nothing in it is secret.

    `home` is an empty folder of its own, `readable` are the paths that workers may read, `front_ends` the folders that
    hold front ends. `roles` are what it prepares for: with none it imports no library that they need.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    control: int
    roles: list[Role]
    home: str
    path: list[str]
    front_ends: list[str]
    readable: list[str]
    layers: Layers


class Spawn(Message):
    """Fork a worker. Descriptors: its control socket, its output pipe."""

    op: Literal["spawn"] = "spawn"
    limits: Limits
    role: Role


class Reap(Message):
    """Kill the worker and everything it started; answer when none of it is left."""

    op: Literal["reap"] = "reap"


class Ready(Message):
    """The zygote has imported what workers need, or says in `trouble` what came of trying, and ends. Descriptor: its
    pidfd, since its number depends on who looks."""

    op: Literal["ready"] = "ready"
    python: str
    torch: str
    triton: str
    numpy: str
    trouble: str = ""


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

PROBE: TypeAdapter[Probe] = TypeAdapter(Probe)
ENTERED: TypeAdapter[Entered] = TypeAdapter(Entered)
PROBED: TypeAdapter[Probed] = TypeAdapter(Probed)
ZYGOTE_REQUEST: TypeAdapter[Spawn | Reap] = TypeAdapter(ZygoteRequest)
ZYGOTE_REPLY: TypeAdapter[Ready | Spawned | Reaped] = TypeAdapter(ZygoteReply)
