"""The messages between judge and fork server, and the base of all messages. `grader.plan.frames` carries them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Text = Annotated[str, Field(max_length=20_000)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    seq: int


# judge -> probe


class Probe(Message):
    """A request to try what no submission may do, and to report what works. Only a worker without a submission gets it.

    `secret` is a file that only the grader's user may read, `target` a file that does not exist yet, `course` a file of
    the course that all users may read. `withheld` are names of files of submissions and results, in hexadecimal digits,
    since a name need not be text. `port` is a listening TCP port on the loopback device, `socket` a listening abstract
    unix address. `needed` are files that the worker has to be able to read.
    """

    op: Literal["probe"] = "probe"
    secret: str
    target: str
    course: str
    withheld: list[str]
    port: int
    socket: str
    needed: list[str]


# probe -> judge


class Entered(Message):
    """The report of a worker that is inside its sandbox, and has read nothing of a submission yet."""

    op: Literal["entered"] = "entered"


class Probed(Message):
    """The forbidden attempts that worked (`managed`), and the first failure of something that a submission needs."""

    op: Literal["probed"] = "probed"
    managed: list[Text]
    trouble: Text


# judge <-> fork server, which is ours, but takes the same frames


class Limits(BaseModel):
    """Limits of one worker. Sizes in MiB, times in seconds."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    memory_mb: Annotated[int, Field(ge=256)]
    cuda: bool = False
    file_mb: Annotated[int, Field(ge=1)]
    processes: Annotated[int, Field(ge=1)]
    cpu_seconds: Annotated[int, Field(ge=1)]


class Layers(BaseModel):
    """The layers that keep workers apart from the grader, beyond their own process, folder and limits."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    # bubblewrap makes namespaces around the fork server, and the fork server makes others around each worker.
    namespaces: bool = False
    # The worker's own user, if the fork server's user may set one.
    uid: Annotated[int, Field(ge=1, lt=2**32 - 1)] | None = None
    landlock: bool = False
    seccomp: bool = False


Part = Literal["builder", "planner", "simulator", "compiler"]
"""The parts of a front end that run in confined processes."""
Role = Annotated[str, Field(max_length=40)]
"""The role of a forked process: "probe", "executor" or a part of a front end (`<its folder>/planner`). The module
`main` of the part's folder, `confined/planner`, serves its requests."""


class Settings(BaseModel):
    """The settings of a fork server, as JSON on its command line: nothing in them is secret.

    `home` is an empty folder of its own, `readable` are the paths that workers may read, `listed` folders whose names
    of files they may read, but not the files, `front_ends` the folders that hold front ends. `roles` are the roles that
    it prepares for: it imports the libraries that these need.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    control: int
    roles: list[Role]
    home: str
    path: list[str]
    front_ends: list[str]
    readable: list[str]
    listed: list[str]
    layers: Layers


class Spawn(Message):
    """A request to fork a worker. Descriptors: its control socket, its output pipe."""

    op: Literal["spawn"] = "spawn"
    limits: Limits
    role: Role


class Reap(Message):
    """A request to kill the worker and all processes that it started; the answer comes when none is left."""

    op: Literal["reap"] = "reap"


class Ready(Message):
    """The report of a fork server that has imported what workers need, or that failed with `trouble` and ends. Roles
    that are `broken` for the reason given cannot be forked; all others can.
    Descriptor: its pidfd, since its pid differs between namespaces."""

    op: Literal["ready"] = "ready"
    python: str
    torch: str
    triton: str
    numpy: str
    trouble: str = ""
    broken: dict[str, str]


class Spawned(Message):
    """The answer to `Spawn`. Descriptor: the worker's pidfd."""

    op: Literal["spawned"] = "spawned"


class Reaped(Message):
    """The end of a worker. `survivors` counts the processes of its tree that could not be killed."""

    op: Literal["reaped"] = "reaped"
    exit_code: int | None = None
    signal: int | None = None
    survivors: int = 0


ForkServerRequest = Annotated[Spawn | Reap, Field(discriminator="op")]
ForkServerReply = Annotated[Ready | Spawned | Reaped, Field(discriminator="op")]

PROBE: TypeAdapter[Probe] = TypeAdapter(Probe)
ENTERED: TypeAdapter[Entered] = TypeAdapter(Entered)
PROBED: TypeAdapter[Probed] = TypeAdapter(Probed)
FORK_SERVER_REQUEST: TypeAdapter[Spawn | Reap] = TypeAdapter(ForkServerRequest)
FORK_SERVER_REPLY: TypeAdapter[Ready | Spawned | Reaped] = TypeAdapter(ForkServerReply)
