"""Each limit on a worker stops what it is for, which the worker manages without just that limit."""

import os
import resource
import time

import pytest

from grader.judging.running import lane
from grader.plan import wire
from grader.sandbox.confine import processes
from grader.sandbox.forkserver import isolation
from tests.sandbox.confine.attacks import LIMITS, NONE, PROBE, ROOT, SECONDS, USER, bare, carry_out, tried

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

FORKS = """
    for _ in range(24):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    return "managed"
"""
# The name of the limit, the attack, and how much the test's own limit must leave for the control.
RLIMITS: dict[str, tuple[str, wire.Layers, int]] = {
    "AS": ("return 'managed' if bytearray(512 << 20) else ''", NONE, 4 << 30),
    "FSIZE": ("""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with open("large", "wb") as file:
            file.write(bytes(2 << 20))
        return "managed"
        """, NONE, 4 << 20),
    "NOFILE": ("return 'managed' if [os.dup(0) for _ in range(300)] else ''", NONE, 400),
    "CPU": ("""
        while time.process_time() < 1.5:
            pass
        return "managed"
        """, NONE, 60),
    "NPROC": (FORKS, wire.Layers(uid=USER if ROOT else None), 4096),
    "MEMLOCK": ("""
        pages = mmap.mmap(-1, 1 << 20)
        address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        if ctypes.CDLL(None, use_errno=True).mlock(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20)):
            raise OSError("mlock")
        return "managed"
        """, NONE, 2 << 20),
    "MSGQUEUE": ("""
        name = f"/kernelmark-{os.getpid()}".encode()
        library = ctypes.CDLL(None, use_errno=True)
        if library.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None) < 0:
            raise OSError("mq_open")
        library.mq_unlink(name)
        return "managed"
        """, NONE, 1 << 17),
    # A crash would leave a file of all memory behind.
    "CORE": ("return 'managed' if resource.getrlimit(resource.RLIMIT_CORE)[1] else 'refused'", NONE, 1),
}  # fmt: skip
UNLIMITED = """
real = resource.setrlimit
resource.setrlimit = lambda kind, value: None if kind == resource.RLIMIT_{name} else real(kind, value)
"""


@pytest.mark.parametrize("name", RLIMITS)
def test_a_limit_stops_what_it_is_for(name: str) -> None:
    attack, layers, needed = RLIMITS[name]
    own = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0]
    limits = LIMITS.model_copy(update={"cpu_seconds": 1 if name == "CPU" else LIMITS.cpu_seconds})
    said = tried(attack, layers=layers, limits=limits)
    assert said.startswith("refused") or (name == "CPU" and said == "lost"), said
    if own != resource.RLIM_INFINITY and own < needed:
        pytest.skip(f"without the limit this machine's own {own:,} is in force: no control")
    assert tried(attack, off=UNLIMITED.format(name=name), layers=layers, limits=limits) == "managed"


def layers_of_a_lane(measured: isolation.Isolation) -> wire.Layers:
    """Those of a lane as `grader.grading.lanes` starts it, without its fork server."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lane.Station, "fork_server", None)
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
    some = FORKS.replace("24", "6")
    stays = some.replace("return", "time.sleep(30)\n    return")
    with bare(stays, "", layers_of_a_lane(measured)) as one, bare(some, "", layers_of_a_lane(measured)) as other:
        worker = one.spawn(LIMITS, "probe")
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
    assert set(tried("return ' '.join(names)", off=off).split()) <= {*RLIMITS}
