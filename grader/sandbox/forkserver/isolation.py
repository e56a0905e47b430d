"""Levels of isolation between workers and the grader: measured inside the sandbox itself, stated in every result.

A level is reached only if each of its layers is in force, and if a probe (`grader.sandbox.confine.probe`), a worker
without a submission, fails at everything that the level refuses.
"""

from __future__ import annotations

import itertools
import os
import secrets
import socket
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from grader import temporary
from grader.errors import InfrastructureError
from grader.plan import frames, language_folders, wire
from grader.sandbox.confine import bubblewrap, cgroup, landlock, seccomp, surroundings
from grader.sandbox.forkserver.handle import OWN_MB, OWN_TASKS, ForkServer

NAMES = ("none", "limited", "confined", "namespaced", "sealed")
SEALED = 4
# Below this level a submission can read the course's files.
ADVISED = 2
PROBE_SECONDS = 20.0
NOBODY = 65534

# The attempts that each level refuses, beside those that the levels below it refuse.
REFUSED: dict[int, tuple[str, ...]] = {
    1: ("read a file of the grader's", "write a file outside", "signal a process outside", "trace a process outside",
        "read a process outside", "open a network socket", "connect to a port", "connect to a local socket",
        "make memory that outlives it", "make a namespace", "act as root"),
    2: ("read the course's files", "read submissions and results"),
    3: ("see the grader's folders", "see processes outside"),
}  # fmt: skip


@dataclass(frozen=True)
class Isolation:
    """The level that was reached. `reasons` name the layers in force; `missing` names the others, why, and what would
    add them."""

    level: int
    layers: wire.Layers
    cgroup: bool
    reasons: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.level} {NAMES[self.level]}"

    @property
    def summary(self) -> str:
        """Return the layers in force, in a few words."""
        return name_of(self.layers) + (" + cgroup" if self.cgroup else "")

    def of_another_user(self) -> Isolation:
        """Return the same isolation with another unused user id, if it uses one: the system counts a user's processes
        together."""
        return self if self.layers.uid is None else replace(
            self, layers=self.layers.model_copy(update={"uid": spare_uid()}))

    def fork_server(self, *parts: wire.Part) -> ForkServer:
        """Start a fork server for workers in these roles of front ends. Raises InfrastructureError."""
        return ForkServer(language_folders.parts(*parts), layers=self.layers,
                      cgroup=cgroup.create(OWN_MB, OWN_TASKS) if self.cgroup else None)


@cache
def measure() -> Isolation:
    """Find the strongest isolation that workers get on this machine. Tries sets of layers, the strongest first.

    Raises InfrastructureError if no worker can be started at all.
    """
    every, missing = offered()
    for layers in weaker(every):
        try:
            managed, trouble = probe(layers)
        except InfrastructureError as error:
            managed, trouble = frozenset(), str(error)
        if trouble:
            missing.append(f"{name_of(layers)}: {trouble}")
            continue
        if managed:
            missing.append(f"a worker can still {', '.join(sorted(managed))}")
        bounded = _cgroup(missing)
        reached = level(layers, managed)
        return Isolation(
            SEALED if bounded and reached == SEALED - 1 else reached, layers, bounded, _reasons(layers, bounded),
            tuple(missing))
    # Workers of root lose the right to read files that belong to others.
    if os.geteuid() == 0 and (closed := surroundings.open_to_others(surroundings.readable(), but=0)):
        try:
            owner = Path(closed).owner()
        except KeyError:
            owner = f"#{Path(closed).stat().st_uid}"
        raise InfrastructureError(
            f"no worker could be had: {closed} is closed to root's workers; run this as its owner, {owner}, or install "
            "Python and the checkout where all may read", f"sudo -u {owner} kernelmark …")
    raise InfrastructureError(f"no worker could be had: {missing[-1]}")


def _cgroup(missing: list[str]) -> bool:
    """Return whether a lane can have a cgroup; if not, add the reason to `missing`."""
    try:
        cgroup.create(OWN_MB, OWN_TASKS).close()
    except cgroup.NoCgroup as error:
        missing.append(f"no cgroup: {error.reason}{f' ({error.remedy})' if error.remedy else ''}")
        return False
    return True


def level(layers: wire.Layers, managed: frozenset[str]) -> int:
    """Return the level of `layers`, without a cgroup, given the attempts in `managed` that worked in a probe."""
    reached = 0
    for number, in_force in (
        (1, layers.seccomp),
        (2, layers.seccomp and (layers.landlock or layers.namespaces)),
        (3, layers.seccomp and layers.namespaces),
    ):
        if not in_force or managed.intersection(REFUSED[number]):
            break
        reached = number
    return reached


def probe(layers: wire.Layers) -> tuple[frozenset[str], str]:
    """Run a probe inside `layers`. Returns the attempts that worked, and the first failure of an action that a
    submission needs, "" if there is none. Raises InfrastructureError."""
    with (
        temporary.folder("probe") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as local,
    ):
        secret, target = folder / "secret", folder / "target"
        secret.write_text(secrets.token_hex())
        secret.chmod(0o600)
        name = f"kernelmark-{secrets.token_hex(8)}"
        local.bind(f"\0{name}")
        local.listen()
        fork_server = ForkServer(layers=layers)
        try:
            worker = fork_server.spawn(wire.Limits(memory_mb=1024, file_mb=1, processes=16, cpu_seconds=10), "probe")
            try:
                worker.channel.send(wire.Probe(
                    seq=1, secret=str(secret), target=str(target), course=surroundings.course_file(),
                    withheld=[os.fsencode(path).hex() for path in surroundings.withheld_files()],
                    port=listener.getsockname()[1], socket=name, needed=surroundings.needed_files()))
                answer = worker.channel.receive(wire.PROBED, seq=1, deadline=time.monotonic() + PROBE_SECONDS)
            except frames.ChannelError as error:
                worker.kill()
                raise InfrastructureError(f"the probe was lost: {error}") from None
            worker.kill()
        finally:
            fork_server.close()
        managed = frozenset(answer.managed) | ({"write a file outside"} if target.exists() else frozenset())
        return managed, answer.trouble


def offered() -> tuple[wire.Layers, list[str]]:
    """Return the layers that this machine seems to offer, and the reasons why others seem to be missing."""
    missing = []
    readable = surroundings.readable()
    trouble = bubblewrap.trouble((*readable, *surroundings.own_code()), surroundings.hidden())
    if trouble:
        missing.append(f"no namespaces: {trouble}")
    if why := landlock.trouble():
        missing.append(f"no Landlock: {why}")
    if not seccomp.available():
        missing.append("no seccomp: this kernel or container does not offer it")
    uid = None
    if os.geteuid() == 0:
        closed = surroundings.open_to_others(readable)
        if closed and trouble:
            missing.append(f"no other user for workers: {closed} is closed to others (grade as a user without "
                           "privileges, or install Python and the checkout where all may read)")
        else:
            uid = spare_uid()
    return wire.Layers(
        namespaces=not trouble, uid=uid, landlock=not why, seccomp=seccomp.available()), missing


def weaker(layers: wire.Layers) -> list[wire.Layers]:
    """Return `layers`, then ever smaller sets of them, without duplicates."""
    outside = {} if not surroundings.open_to_others(surroundings.readable()) else {"uid": None}
    sets = [layers, layers.model_copy(update={"uid": None})]
    for change in ({"namespaces": False}, {"landlock": False}, {"seccomp": False}):
        strongest = sets[-2].model_copy(update={**change, **outside})
        sets += [strongest, strongest.model_copy(update={"uid": None})]
    return list(dict.fromkeys(sets))


_lanes = itertools.count()


def spare_uid() -> int | None:
    """Return an unused user id, a different one for each fork server of each process. Where few user ids are mapped it
    is `nobody`; None if there is no other id."""
    mapped = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
    number = 1_500_000_000 + os.getpid() * 64 + next(_lanes) % 64
    if number < mapped:
        return number
    return NOBODY if mapped > NOBODY else None


def name_of(layers: wire.Layers) -> str:
    """Return the layers in a few words."""
    parts = [name for name, in_force in (
        ("namespaces", layers.namespaces), ("another user", layers.uid is not None), ("Landlock", layers.landlock),
        ("seccomp", layers.seccomp)) if in_force]
    return " + ".join(parts) or "no layer"


def _reasons(layers: wire.Layers, bounded: bool) -> tuple[str, ...]:
    texts = (
        (layers.namespaces,
         "namespaces of its own (bubblewrap, then one more set for each worker): it sees no process, no network and no "
         "file of this machine but the libraries it needs; its files vanish with it"),
        (layers.uid is not None, "a user of its own, without privileges"),
        (layers.landlock,
         "Landlock: it writes nowhere but in its own folder, and reads nothing of course, class or results"),
        (layers.seccomp,
         "seccomp: no signals to others, no tracing, no connections, no memory that outlives it, and no other programs "
         "except for the compiler"),
        (bounded, "a cgroup: memory and processes of all its workers are bounded by the kernel"),
        (True,
         "a process of its own, forked before any student code was read, with an empty folder, a bare environment, no "
         "descriptor but its own, and limits; its whole process tree is killed at the end"),
    )
    return tuple(text for in_force, text in texts if in_force)
