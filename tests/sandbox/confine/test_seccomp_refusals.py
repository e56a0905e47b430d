"""Under the filter no thread and no program of a worker's reaches another process, the network or the machine."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.judging.running.buffers import HostTensor
from grader.sandbox.confine.seccomp import EXEC, REFUSED
from tests.rows import each_row
from tests.sandbox.confine.filtered import on_this_system, printed, run

# No memory is at address -1, no descriptor or process has that number, no flags are all set: harmless even as root.
# Of a few calls -1 would make something, so they ask for what is not there.
KEY = 0x6B6D6172
SPECIAL = {"msgget": (KEY, 0), "shmget": (KEY, 0, 0), "semget": (KEY, 0, 0)}
# Without the filter, too, the kernel may say EPERM here, before it looks at the arguments: to those without a
# capability, to one that leads a session, or because the system was set up so (lockdown, kernel.io_uring_disabled,
# kernel.kexec_load_disabled, ...).
OWN_EPERM = frozenset({
    "setdomainname", "pivot_root", "fsmount", "move_mount", "syslog", "fsopen", "swapoff", "swapon", "fspick", "acct",
    "setgroups", "sethostname", "vhangup", "fanotify_init", "reboot", "mount", "umount2", "open_by_handle_at", "chroot",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "iopl", "ioperm", "io_uring_setup",
    "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd", "quotactl", "quotactl_fd", "setsid",
})

PROBE = """
special = json.loads(sys.argv[1])
found = {}
for name in seccomp.REFUSED | seccomp.EXEC:
    if column(name) is not None:
        found[name] = call(column(name), *special.get(name, (-1,) * 6))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def answers() -> tuple[dict[str, int], dict[str, int]]:
    """What each refused call answers with the filter and without it."""
    with_filter, without = (
        json.loads(printed(PROBE, json.dumps(SPECIAL), filtered=filtered)) for filtered in (True, False))
    return with_filter, without


def filtered_already() -> bool:
    """Whether these tests run in a container with a filter of its own."""
    return "\nSeccomp:\t2" in Path("/proc/self/status").read_text()


@on_this_system
@each_row("call", sorted(REFUSED | EXEC))
def test_the_kernel_refuses_the_call_because_of_the_filter(
    call: str, answers: tuple[dict[str, int], dict[str, int]],
) -> None:
    with_filter, without = answers
    if call not in with_filter:
        # This architecture has no such call.
        return
    assert with_filter[call] == errno.EPERM
    if call not in OWN_EPERM and not filtered_already():
        assert without[call] != errno.EPERM


SLEEPER = "import signal, time; signal.signal(signal.SIGIO, signal.SIG_DFL); print(flush=True); time.sleep(600)"

# A signal for process `victim`, which leads a group and a session of its own. A handle on it was opened in time.
VICTIM = """
victim = int(sys.argv[1])
try:
    handle = os.pidfd_open(victim)
except OSError:
    handle = -1
one, other = socket.socketpair()
"""
# struct siginfo: number, errno, SI_QUEUE.
SIGINFO = "pointer(ctypes.c_int, 15, 0, -1, *[0] * 29)"
ASYNC = "fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC); other.send(b'x')"
SIGNALS = {
    "kill": "os.kill(victim, 9)",
    "killpg": "os.killpg(victim, 9)",
    "tgkill": "call(column('tgkill'), victim, victim, 9)",
    "tkill": "call(column('tkill'), victim, 9)",
    "rt_sigqueueinfo": f"call(column('rt_sigqueueinfo'), victim, 15, {SIGINFO})",
    "rt_tgsigqueueinfo": f"call(column('rt_tgsigqueueinfo'), victim, victim, 15, {SIGINFO})",
    "pidfd_send_signal": "signal.pidfd_send_signal(handle, 9)",
    "F_SETOWN": f"fcntl.fcntl(one, fcntl.F_SETOWN, victim); {ASYNC}",
    "F_SETOWN_EX": f"fcntl.fcntl(one, 15, bytes((ctypes.c_int * 2)(1, victim))); {ASYNC}",
    "FIOSETOWN": f"fcntl.ioctl(one, 0x8901, bytes(ctypes.c_int(victim))); {ASYNC}",
    "SIOCSPGRP": f"fcntl.ioctl(one, 0x8902, bytes(ctypes.c_int(victim))); {ASYNC}",
    "a child": "pid = os.fork()\nif not pid: os.kill(victim, 9)\nos.waitpid(pid, 0)",
    "a thread": "t = threading.Thread(target=os.kill, args=(victim, 9)); t.start(); t.join()",
}


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", SLEEPER], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@on_this_system
@pytest.mark.parametrize("way", SIGNALS)
def test_no_signal_reaches_another_process(way: str, victim: subprocess.Popen[bytes]) -> None:
    run(SIGNALS[way], victim.pid, before=VICTIM)
    assert not ended(victim, 0.2)
    run(SIGNALS[way], victim.pid, before=VICTIM, filtered=False)
    assert ended(victim, 5), "without the filter the attack works"


# What needs no signal: each prints 0 where it succeeds, else the error.
TRACING = {
    # PTRACE_ATTACH
    "ptrace": 'print(call(column("ptrace"), 16, victim, 0, 0))',
    # The first byte of the program that the victim runs.
    "process_vm_readv": """
        here = pointer(ctypes.c_char, 0)
        there = int(open(f"/proc/{victim}/maps").readline().split("-")[0], 16)
        local, remote = (pointer(ctypes.c_void_p, address, 1) for address in (here, there))
        print(call(column("process_vm_readv"), victim, local, 1, remote, 1, 0))
        """,
}
MEDDLING = {
    "prlimit64": 'print(call(column("prlimit64"), victim, 7, pointer(ctypes.c_long, 16, 16), 0))',
    "setpriority": 'print(call(column("setpriority"), 0, victim, 5))',
    "ioprio_set": 'print(call(column("ioprio_set"), 1, victim, 2 << 13))',
    "sched_setaffinity": 'print(call(column("sched_setaffinity"), victim, 8, pointer(ctypes.c_long, 1)))',
}


def may_trace() -> bool:
    """Whether this system lets a process trace one that is not its child."""
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return not scope.exists() or scope.read_text().strip() == "0"


@on_this_system
@pytest.mark.parametrize("way", TRACING | MEDDLING)
def test_no_other_process_is_looked_into_or_changed(way: str, victim: subprocess.Popen[bytes]) -> None:
    body = "victim = int(sys.argv[1])\n" + textwrap.dedent((TRACING | MEDDLING)[way])
    assert printed(body, victim.pid) == str(errno.EPERM)
    if way in MEDDLING or may_trace():
        assert printed(body, victim.pid, filtered=False) == "0"


@on_this_system
def test_every_thread_is_under_the_filter(text: str) -> None:
    body = "go.set(); thread.join(); print(answer[0])"
    assert printed(body, before=text) == str(errno.EPERM)
    assert printed(body, before=text, filtered=False) == "0"


@on_this_system
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="32-bit calls are made with an instruction of x86's")
def test_a_32_bit_call_kills(text: str) -> None:
    # mov eax, 20 (getpid); int 0x80; ret
    if run(text, filtered=False).returncode != 0:
        pytest.skip("this kernel has no 32-bit calls")
    assert run(text).returncode == -signal.SIGSYS


@on_this_system
def test_programs_run_only_if_allowed(text: str) -> None:
    assert printed(text) == "refused"
    assert printed(text, allow_exec=True) == "0"
    # What is run is under the filter still.
    child = "import socket\ntry: socket.socket()\nexcept PermissionError: print('refused')"
    assert printed("subprocess.run([sys.executable, '-S', '-c', sys.argv[1]])", child, allow_exec=True) == "refused"


# Ways to take the pages of shared memory from everybody, by a view of it and by a descriptor: each prints 0 where it
# succeeds, else the error.
FREEING = {
    "MADV_REMOVE": "print(call(column('madvise'), address, SIZE, 9))",
    "FALLOC_FL_PUNCH_HOLE": "print(call(column('fallocate'), descriptor, 1 | 2, 0, SIZE))",
}


@on_this_system
@pytest.mark.parametrize("way", FREEING)
def test_what_is_shared_keeps_its_pages(way: str) -> None:
    body = f"""
        SIZE, descriptor = 1 << 20, int(sys.argv[1])
        view = mmap.mmap(descriptor, SIZE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(view))
        {FREEING[way]}
    """
    shared = HostTensor((1 << 18,), "float32")
    try:
        shared.tensor.fill_(1)
        assert printed(body, shared.descriptor, descriptors=(shared.descriptor,)) == str(errno.EPERM)
        assert bool((shared.tensor == 1).all())
        # The seals alone do not keep it.
        assert printed(body, shared.descriptor, descriptors=(shared.descriptor,), filtered=False) == "0"
        assert not shared.tensor.any()
    finally:
        shared.close()


@on_this_system
def test_where_filters_are_refused_it_is_said(text: str) -> None:
    # As in a container whose own filter refuses seccomp(2).
    failed = run("", before=text)
    assert "PermissionError" in failed.stderr and "the seccomp filter was not taken" in failed.stderr


@on_this_system
def test_asking_installs_nothing_and_a_second_filter_may_follow() -> None:
    body = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('Seccomp:')][0])"
    before = "assert seccomp.available()"
    own = "2" if filtered_already() else "0"
    assert printed(body, before=before, filtered=False) == own
    assert printed(body, before="seccomp.install(allow_exec=True)") == "2"
