"""Each defence stops its attack, and the attack works with just that defence off.

What the layers refuse has tests of its own (test_isolation.py, test_landlock_*.py, test_seccomp_*.py). Attacks run
where a submission would: in a worker, after its sandbox was entered. `off` runs in the zygote before it serves.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import stat
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.confine import bubblewrap, processes
from grader.forkserver import handle as judges_zygote
from grader.forkserver import isolation
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge import lane
from grader.plan import frames, wire

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

ROOT = os.geteuid() == 0
NONE = wire.Layers()
USER = 1_600_000_001
ANOTHER_USER = wire.Layers(uid=USER if ROOT else None)
APART = wire.Layers(namespaces=True, uid=USER if ROOT else None)
LIMITS = wire.Limits(memory_mb=256, file_mb=1, processes=8, cpu_seconds=60)
SECONDS = 20.0
PROBE = wire.Probe(seq=1, secret="", target="", course="", port=0, socket="", needed=[])

BOOT = """
import ctypes, json, mmap, os, resource, signal, socket, stat, sys, threading, time
sys.path[:] = json.loads(sys.argv[1])["path"]
from grader.plan import wire
from grader.confine import canary, namespaces, processes, sandbox
from grader.forkserver.server import main
{off}
def attack():
{attack}
def probe(request):
    try:
        said = attack()
    except (OSError, RuntimeError, MemoryError) as error:
        said = f"refused: {{error}}"
    return wire.Probed(seq=request.seq, managed=[str(said)], trouble="")
canary.probe = probe
main(wire.Settings.model_validate_json(sys.argv[1]))
"""

Tried = Callable[..., str]


@contextlib.contextmanager
def bare(attack: str, off: str, layers: wire.Layers) -> Iterator[Zygote]:
    """A zygote whose workers carry out `attack`, the body of a function that returns what it managed."""
    with pytest.MonkeyPatch.context() as patch:
        boot = BOOT.format(off=textwrap.dedent(off), attack=textwrap.indent(textwrap.dedent(attack), "    "))
        patch.setattr(judges_zygote, "_BOOT", boot)
        own = Zygote(layers=layers)
    try:
        yield own
    finally:
        own.close()


def carry_out(own: Zygote, limits: wire.Limits = LIMITS) -> str:
    """What came of the attack in a worker; "lost" if the worker is."""
    worker = own.spawn(limits, "canary")
    try:
        worker.channel.send(PROBE)
        answer = worker.channel.receive(wire.PROBED, seq=1, deadline=time.monotonic() + SECONDS)
        return answer.managed[0]
    except frames.ChannelClosed:
        return "lost"
    finally:
        worker.kill()


def tried(
    attack: str, off: str = "", layers: wire.Layers = NONE, limits: wire.Limits = LIMITS,
) -> str:
    with bare(attack, off, layers) as own:
        return carry_out(own, limits)


def skip_without_namespaces() -> None:
    offered, missing = isolation._offered()
    if not offered.namespaces:
        pytest.skip("; ".join(missing))


# What the worker is left with


SOCKETS = """
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 3 and stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                found.append(name)
        except OSError:
            pass
    return "sockets " + " ".join(found) if found else "none"
"""
KEEPS_ALL = """
def keep(control, output):
    control, output = os.dup(control), os.dup(output)
    for number in (1, 2):
        os.dup2(output, number)
    os.dup2(control, 3)
sandbox._keep_only = keep
"""


def test_a_worker_holds_no_descriptor_of_the_zygotes() -> None:
    assert tried(SOCKETS) == "none"
    # Its channel to the judge, by which it asks for workers and for their end.
    assert tried(SOCKETS, off=KEEPS_ALL).startswith("sockets ")


def test_a_worker_has_nothing_of_the_judges_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    attack = """
        return any(b"KERNELMARK_SECRET" in text for text in (*os.environb, open("/proc/self/environ", "rb").read()))
    """
    monkeypatch.setenv("KERNELMARK_SECRET", "1")
    assert tried(attack) == "False"
    monkeypatch.setattr(judges_zygote, "_KEEP", ("PATH", "KERNELMARK_SECRET"))
    assert tried(attack) == "True"


READ_PARENT = """
    return "read" if open(f"/proc/{os.getppid()}/environ", "rb").read() else "nothing"
"""


def test_the_zygote_is_hidden_from_a_worker_of_the_same_user() -> None:
    if ROOT:
        pytest.skip("root's zygote has privileges that its workers lack, which hides it as well")
    assert tried(READ_PARENT).startswith("refused")
    assert tried(READ_PARENT, off="processes.hide = lambda: None") == "read"


@pytest.mark.parametrize("hidden", [True, False])
def test_the_judge_is_hidden_from_processes_of_the_same_user(hidden: bool) -> None:
    if ROOT:
        pytest.skip("root may look into everything; its workers may not, for want of privileges")
    pid = os.fork()
    if pid == 0:
        processes.hide() if hidden else processes.show()
        time.sleep(SECONDS)
        os._exit(0)
    try:
        deadline = time.monotonic() + SECONDS
        readable = hidden
        while readable == hidden and time.monotonic() < deadline:
            try:
                Path(f"/proc/{pid}/environ").read_bytes()
                readable = True
            except PermissionError:
                readable = False
        assert readable != hidden
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_process_with_a_lane_is_hidden(zygote: Zygote) -> None:
    assert zygote.alive
    get_dumpable = 3
    assert ctypes.CDLL(None).prctl(get_dumpable, 0, 0, 0, 0) == 0


# Limits


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
    "NPROC": (FORKS, ANOTHER_USER, 4096),
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
    """Those of a lane as `grader.lanes` starts it, without its zygote."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lane, "lane_zygote", lambda: None)
            lane.start_lane(measured=measured)
            os.write(write, lane.lane_isolation().layers.model_dump_json().encode())
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
        worker = one.spawn(LIMITS, "canary")
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


# The worker's own file system


FILES = """
    for number in range(6):
        with open(f"file-{number}", "wb") as file:
            file.write(bytes(1 << 19))
    return "managed"
"""
ENTRIES = """
    for number in range(5000):
        open(f"file-{number}", "w").close()
    return "managed"
"""
ROOMY = """
real = namespaces.new_mounts
namespaces.new_mounts = lambda folder, **options: real(folder, **{**options, "megabytes": 64, "entries": 16384})
"""


@pytest.mark.parametrize("attack", [FILES, ENTRIES], ids=["size", "entries"])
def test_a_workers_file_system_is_bounded(attack: str) -> None:
    skip_without_namespaces()
    assert tried(attack, layers=APART).startswith("refused")
    assert tried(attack, off=ROOMY, layers=APART) == "managed"


NUMBERS = """
    # 1 is the first process of its namespace, 2 the worker: what else the zygote does is outside.
    return " ".join(sorted(name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()))
"""
NO_HIDEPID = """
class Library:
    def __getattr__(self, name):
        return getattr(real, name)
    def mount(self, source, target, kind, flags, options):
        return real.mount(source, target, kind, flags, None if options == b"hidepid=2" else options)
real, namespaces._libc = namespaces._libc, Library()
"""


def test_processes_of_another_user_are_not_listed() -> None:
    skip_without_namespaces()
    assert tried(NUMBERS, layers=APART) == ""
    assert tried(NUMBERS, off=NO_HIDEPID, layers=APART) == "1"


ZEROES = """
    with open("/dev/zero", "rb") as file:
        return "read" if file.read(1) else ""
"""


def test_a_worker_has_no_device_but_those_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_namespaces()
    attack = "return ' '.join(sorted(os.listdir('/dev')))"
    assert tried(attack, layers=APART) == "null random shm urandom"
    assert tried(ZEROES, layers=APART).startswith("refused")
    monkeypatch.setattr(bubblewrap, "DEVICES", ("/dev/null", "/dev/zero"))
    assert tried(ZEROES, layers=APART) == "read"


def test_no_program_gives_more_rights_than_a_worker_has() -> None:
    if not ROOT:
        pytest.skip("only root can make a program that gives root's rights")
    with tempfile.TemporaryDirectory() as folder:
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("no program of this file system gives rights")
        Path(folder).chmod(0o755)
        program = Path(folder) / "id"
        shutil.copy(str(shutil.which("id")), program)
        program.chmod(0o4755)
        assert program.stat().st_mode & stat.S_ISUID
        attack = f"""
            read, write = os.pipe()
            if os.fork() == 0:
                os.dup2(write, 1)
                os.execv({str(program)!r}, ["id", "-u"])
            return os.read(read, 100).decode().strip()
        """
        layers = wire.Layers(uid=USER)
        assert tried(attack, layers=layers) == str(USER)
        assert tried(attack, off="processes.gain_nothing_by_exec = lambda: None", layers=layers) == "0"


# The end of a worker


DAEMON = """
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            time.sleep(20)
        os._exit(0)
    return os.read(read, 100).decode()
"""


def test_what_a_worker_has_orphaned_dies_with_it() -> None:
    assert not Path(f"/proc/{tried(DAEMON)}").exists()
    # Without one that adopts orphans they fall out of the tree.
    left = int(tried(DAEMON, off="processes.adopt_orphans = lambda: None"))
    try:
        assert Path(f"/proc/{left}").exists()
    finally:
        os.kill(left, signal.SIGKILL)


def test_a_worker_dies_with_its_zygote() -> None:
    for off, dies in (("", True), ("processes.die_with_parent = lambda: None", False)):
        with bare("time.sleep(30)", off, NONE) as own:
            worker = own.spawn(LIMITS, "canary")
            pid = worker.pid
            os.kill(own.pid, signal.SIGKILL)
            deadline = time.monotonic() + (SECONDS if dies else 0.5)
            while (alive := _alive(pid)) and time.monotonic() < deadline:
                time.sleep(0.01)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with pytest.raises(InfrastructureError):
                worker.kill()
            assert alive != dies


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
