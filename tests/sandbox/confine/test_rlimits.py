"""Each limit on a worker stops what it is for, which the worker manages without just that limit."""

import os
import resource
import time

import pytest

from grader.judging.running import fork_servers, lane
from grader.plan import wire
from grader.sandbox.confine import processes
from grader.sandbox.forkserver import isolation
from tests.rows import beside
from tests.sandbox.confine.attacks import LIMITS, PROBE, ROOT, SECONDS, USER, bare, carry_out, tried

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

ATTACKS: dict[str, str] = beside(__file__)
# How much the test's own limit must leave for the control.
LEFT = {"AS": 4 << 30, "FSIZE": 4 << 20, "NOFILE": 400, "CPU": 60, "NPROC": 4096, "MEMLOCK": 2 << 20,
        "MSGQUEUE": 1 << 17, "CORE": 1}
UNLIMITED = """
real = resource.setrlimit
resource.setrlimit = lambda kind, value: None if kind == resource.RLIMIT_{name} else real(kind, value)
"""


@pytest.mark.parametrize("name", ATTACKS)
def test_a_limit_stops_what_it_is_for(name: str) -> None:
    attack, layers = ATTACKS[name], wire.Layers(uid=USER if ROOT and name == "NPROC" else None)
    own = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0]
    limits = LIMITS.model_copy(update={"cpu_seconds": 1 if name == "CPU" else LIMITS.cpu_seconds})
    output = tried(attack, layers=layers, limits=limits)
    assert output.startswith("refused") or (name == "CPU" and output == "lost"), output
    if own != resource.RLIM_INFINITY and own < LEFT[name]:
        pytest.skip(f"without the limit this machine's own {own:,} is in force: no control")
    assert tried(attack, off=UNLIMITED.format(name=name), layers=layers, limits=limits) == "managed"


def layers_of_a_lane(measured: isolation.Isolation) -> wire.Layers:
    """Those of a lane as `grader.grading.lanes` starts it, without its fork server."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fork_servers.LaneForkServer, "handle", None)
            lane.start_lane(measured=measured)
            os.write(write, lane.LANE.isolation.layers.model_dump_json().encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        layers = wire.Layers.model_validate_json(answer.read())
    os.waitpid(pid, 0)
    return layers


def test_processes_of_one_lane_are_not_counted_in_another() -> None:
    measured = isolation.measure()
    if measured.layers.uid is None:
        pytest.skip("its workers have no user of their own")
    some = ATTACKS["NPROC"].replace("24", "6")
    stays = some.replace("return", "time.sleep(30)\nreturn")
    with bare(stays, "", layers_of_a_lane(measured)) as server, bare(some, "", layers_of_a_lane(measured)) as other:
        worker = server.spawn(LIMITS, "probe")
        try:
            worker.channel.send(PROBE)
            deadline = time.monotonic() + SECONDS
            while len(processes.descendants(worker.pid)) < 6 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert len(processes.descendants(worker.pid)) >= 6
            assert carry_out(other) == "managed"
        finally:
            worker.kill()


def test_every_limit_that_a_worker_gets_is_tried() -> None:
    off = """
        def note(kind, value):
            names.append(next(name[7:] for name in dir(resource) if getattr(resource, name) == kind and "_" in name))
        names, resource.setrlimit = [], note
    """
    assert set(tried("return ' '.join(names)", off=off).split()) <= {*ATTACKS}
