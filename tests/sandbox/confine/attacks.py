"""Attacks run where a submission would: in a worker, after its sandbox was entered, with one defence off or none."""

import contextlib
import os
import textwrap
import time
from collections.abc import Iterator

import pytest

from grader.plan import frames, wire
from grader.sandbox.forkserver import handle
from grader.sandbox.forkserver.handle import ForkServer

ROOT = os.geteuid() == 0
NONE = wire.Layers()
USER = 1_600_000_001
LIMITS = wire.Limits(memory_mb=256, file_mb=1, processes=8, cpu_seconds=60)
SECONDS = 20.0
PROBE = wire.Probe(seq=1, secret="", target="", course="", withheld=[], port=0, socket="", needed=[])

BOOT = """
import ctypes, json, mmap, os, resource, signal, socket, stat, sys, threading, time
sys.path[:] = json.loads(sys.argv[1])["path"]
from grader.plan import wire
from grader.sandbox.confine import namespaces, probe, processes, sandbox
from grader.sandbox.forkserver.server import main
{off}
def attack():
{attack}
def answer(request):
    try:
        said = attack()
    except (OSError, RuntimeError, MemoryError) as error:
        said = f"refused: {{error}}"
    return wire.Probed(seq=request.seq, managed=[str(said)], trouble="")
probe.answer = answer
main(wire.Settings.model_validate_json(sys.argv[1]))
"""


@contextlib.contextmanager
def bare(attack: str, off: str, layers: wire.Layers) -> Iterator[ForkServer]:
    """A fork server whose workers carry out `attack`, the body of a function that returns what it managed.

    It runs `off` before it serves.
    """
    with pytest.MonkeyPatch.context() as patch:
        boot = BOOT.format(off=textwrap.dedent(off), attack=textwrap.indent(textwrap.dedent(attack), "    "))
        patch.setattr(handle, "BOOT", boot)
        own = ForkServer(layers=layers)
    try:
        yield own
    finally:
        own.close()


def carry_out(own: ForkServer, limits: wire.Limits = LIMITS) -> str:
    """What came of the attack in a worker; "lost" if the worker is."""
    worker = own.spawn(limits, "probe")
    try:
        worker.channel.send(PROBE)
        answer = worker.channel.receive(wire.PROBED, seq=1, deadline=time.monotonic() + SECONDS)
        return answer.managed[0]
    except frames.ChannelClosed:
        return "lost"
    finally:
        worker.kill()


def tried(attack: str, off: str = "", layers: wire.Layers = NONE, limits: wire.Limits = LIMITS) -> str:
    with bare(attack, off, layers) as own:
        return carry_out(own, limits)
