"""Each defence stops its attack, and the attack works with just that defence off.

What the layers refuse has tests of its own (test_isolation.py, test_landlock_*.py, test_seccomp_*.py).
"""

import contextlib
import ctypes
import os
import shutil
import signal
import stat
import tempfile
import time
from pathlib import Path

import pytest

from grader.errors import InfrastructureError
from grader.plan import wire
from grader.sandbox.confine import bubblewrap, processes
from grader.sandbox.forkserver import handle as judges_fork_server
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import ForkServer
from tests.rows import beside
from tests.sandbox.confine.attacks import LIMITS, NONE, ROOT, SECONDS, USER, bare, tried

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

ATTACKS = beside(__file__)
APART = wire.Layers(namespaces=True, uid=USER if ROOT else None)


def skip_without_namespaces() -> None:
    there, missing = isolation.offered()
    if not there.namespaces:
        pytest.skip("; ".join(missing))


# What the worker is left with


KEEPS_ALL = """
def keep(control, output):
    control, output = os.dup(control), os.dup(output)
    for number in (1, 2):
        os.dup2(output, number)
    os.dup2(control, 3)
sandbox.keep_only = keep
"""


def test_a_worker_holds_no_descriptor_of_the_fork_servers() -> None:
    assert tried(ATTACKS["sockets"]) == "none"
    # Its channel to the judge, by which it asks for workers and for their end.
    assert tried(ATTACKS["sockets"], off=KEEPS_ALL).startswith("sockets ")


def test_a_worker_has_nothing_of_the_judges_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    attack = """
        return any(b"KERNELMARK_SECRET" in text for text in (*os.environb, open("/proc/self/environ", "rb").read()))
    """
    monkeypatch.setenv("KERNELMARK_SECRET", "1")
    assert tried(attack) == "False"
    monkeypatch.setattr(judges_fork_server, "KEPT", ("KERNELMARK_SECRET",))
    assert tried(attack) == "True"


def test_a_worker_does_not_see_where_the_judge_has_its_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    attack = """
        texts = (os.environb[b"PATH"], open("/proc/self/environ", "rb").read())
        return any(b"/home/ta/bin" in text for text in texts)
    """
    monkeypatch.setenv("PATH", "/home/ta/bin", prepend=os.pathsep)
    assert tried(attack) == "False"
    monkeypatch.setattr(judges_fork_server, "PATH", os.environ["PATH"])
    assert tried(attack) == "True"


def test_a_worker_does_not_see_the_machines_name(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_namespaces()
    attack = """
        return " ".join({os.uname().nodename, socket.gethostname(), open("/proc/sys/kernel/hostname").read().strip()})
    """
    assert tried(attack, layers=APART) == bubblewrap.HOST
    monkeypatch.setattr(bubblewrap, "HOST", os.uname().nodename)
    assert tried(attack, layers=APART) == os.uname().nodename


def test_the_fork_server_is_hidden_from_a_worker_of_the_same_user() -> None:
    if ROOT:
        pytest.skip("root's fork server has privileges that its workers lack, which hides it as well")
    assert tried(ATTACKS["read_parent"]).startswith("refused")
    assert tried(ATTACKS["read_parent"], off="processes.hide = lambda: None") == "read"


@pytest.mark.parametrize("hidden", [True, False])
def test_the_judge_is_hidden_from_processes_of_the_same_user(hidden: bool) -> None:
    if ROOT:
        pytest.skip("root may look into everything; its workers may not, for want of privileges")
    pid = os.fork()
    if pid == 0:
        processes.hide() if hidden else processes.unhide()
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


def test_a_process_with_a_lane_is_hidden(fork_server: ForkServer) -> None:
    assert fork_server.alive
    get_dumpable = 3
    assert ctypes.CDLL(None).prctl(get_dumpable, 0, 0, 0, 0) == 0


# The worker's own file system


ROOMY = """
real = namespaces.new_mounts
namespaces.new_mounts = lambda folder, **options: real(folder, **{**options, "megabytes": 64, "entries": 16384})
"""


@pytest.mark.parametrize("attack", [ATTACKS["files"], ATTACKS["entries"]], ids=["size", "entries"])
def test_a_workers_file_system_is_bounded(attack: str) -> None:
    skip_without_namespaces()
    assert tried(attack, layers=APART).startswith("refused")
    assert tried(attack, off=ROOMY, layers=APART) == "managed"


NO_HIDEPID = """
class Library:
    def __getattr__(self, name):
        return getattr(real, name)
    def mount(self, source, target, kind, flags, options):
        return real.mount(source, target, kind, flags, None if options == b"hidepid=2" else options)
real, namespaces.libc = namespaces.libc, Library()
"""


def test_processes_of_another_user_are_not_listed() -> None:
    skip_without_namespaces()
    assert tried(ATTACKS["numbers"], layers=APART) == ""
    assert tried(ATTACKS["numbers"], off=NO_HIDEPID, layers=APART) == "1"


def test_a_worker_has_no_device_but_those_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_namespaces()
    attack = "return ' '.join(sorted(os.listdir('/dev')))"
    assert tried(attack, layers=APART) == "null random shm urandom"
    assert tried(ATTACKS["zeroes"], layers=APART).startswith("refused")
    monkeypatch.setattr(bubblewrap, "DEVICES", ("/dev/null", "/dev/zero"))
    assert tried(ATTACKS["zeroes"], layers=APART) == "read"


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


def test_what_a_worker_has_orphaned_dies_with_it() -> None:
    assert not Path("/proc", tried(ATTACKS["daemon"])).exists()
    # Without one that adopts orphans they fall out of the tree.
    left = int(tried(ATTACKS["daemon"], off="processes.adopt_orphans = lambda: None"))
    try:
        assert Path(f"/proc/{left}").exists()
    finally:
        os.kill(left, signal.SIGKILL)


def test_a_worker_dies_with_its_fork_server() -> None:
    for off, dies in (("", True), ("processes.die_with_parent = lambda: None", False)):
        with bare("time.sleep(30)", off, NONE) as own:
            worker = own.spawn(LIMITS, "probe")
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
