"""Under the filter a worker reaches no other process, no network and no machine, and does its own work as before.

Two ways to look: a small interpreter of classic BPF runs the filter of either architecture over made-up calls; and
programs of their own run real calls with and without it, so that a refusal is the filter's and not the system's.
"""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.confine import seccomp
from grader.confine.seccomp import ARCHITECTURES, EXAMINED, EXEC, NEWEST, REFUSED
from grader.judge.buffers import HostTensor

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
PID = 4321
OTHER = 77
HIGH = 1 << 32

ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
EPERM, ENOSYS = 0x0005_0000 | errno.EPERM, 0x0005_0000 | errno.ENOSYS

on_this_system = pytest.mark.skipif(not seccomp.available(), reason="this system takes no seccomp filter")


# The filter as a program, on either architecture


def answer(machine: str, number: int, *args: int, allow_exec: bool = False, audit: int | None = None) -> int:
    """What the filter of process PID returns for one call, by the rules of Linux's filter.txt."""
    code = seccomp.program(machine, PID, allow_exec=allow_exec)
    data = struct.pack("=IIQ6Q", number & 0xFFFF_FFFF, audit or ARCHITECTURES[machine].audit, 0,
                       *(arg & 0xFFFF_FFFF_FFFF_FFFF for arg in (*args, *[0] * 6)[:6]))
    word = position = 0
    while True:
        operation, if_true, if_false, constant = code[position]
        position += 1
        if operation == 0x06:
            return constant
        if operation == 0x20:
            word = int(struct.unpack_from("=I", data, constant)[0])
        elif operation == 0x54:
            word &= constant
        else:
            holds = {0x15: word == constant, 0x25: word > constant, 0x35: word >= constant,
                     0x45: bool(word & constant)}[operation]
            position += if_true if holds else if_false


def number_of(machine: str, call: str) -> int | None:
    return (REFUSED | EXEC | EXAMINED)[call][ARCHITECTURES[machine].column]


machines = pytest.mark.parametrize("machine", ARCHITECTURES)


@machines
def test_each_refused_call_is_refused_whatever_its_arguments(machine: str) -> None:
    for call in REFUSED | EXEC:
        number = number_of(machine, call)
        if number is not None:
            assert {answer(machine, number, *[value] * 6) for value in (0, PID, -1)} == {EPERM}, call
    for call in EXEC:
        number = number_of(machine, call)
        assert number is not None
        assert answer(machine, number, allow_exec=True) == ALLOW


@machines
def test_no_call_that_the_tables_do_not_name_is_refused(machine: str) -> None:
    named = {number_of(machine, call) for call in REFUSED | EXEC | EXAMINED}
    for number in range(NEWEST + 1):
        if number not in named:
            assert answer(machine, number, *[-1] * 6) == ALLOW, number


@machines
def test_the_filter_has_the_form_that_the_kernel_demands(machine: str) -> None:
    code = seccomp.program(machine, PID, allow_exec=False)
    assert len(code) < 4096
    for position, one in enumerate(code):
        assert 0 <= one.if_true <= 255 and 0 <= one.if_false <= 255
        assert position + 1 + max(one.if_true, one.if_false) < len(code) + (one.code == 0x06)


@machines
def test_another_architecture_is_killed_and_unknown_numbers_do_not_exist(machine: str) -> None:
    i386, getpid = 0x4000_0003, 39
    assert answer(machine, getpid, audit=i386) == KILL
    assert answer(machine, NEWEST) == EPERM  # file_setattr
    assert answer(machine, NEWEST + 1) == ENOSYS
    x32 = 0x4000_0000 | getpid
    assert answer(machine, x32) == (EPERM if machine == "x86_64" else ENOSYS)
    # execve of x32, which old kernels ran without the mark of x32.
    assert answer(machine, 520) == (EPERM if machine == "x86_64" else ENOSYS)


STREAM, SEQPACKET, DGRAM, RAW = socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM, socket.SOCK_RAW
THREAD = 0x3D0F00  # the flags of pthread_create
ARGUMENTS = [
    ("kill", (PID, 9), ALLOW), ("kill", (OTHER, 9), EPERM), ("kill", (OTHER, 0), EPERM), ("kill", (0, 9), EPERM),
    ("kill", (-1, 9), EPERM), ("kill", (-PID, 9), EPERM),
    # The kernel takes a pid from the low half.
    ("kill", (PID | HIGH, 9), ALLOW), ("kill", (OTHER | PID << 32, 9), EPERM),
    ("tgkill", (PID, PID + 1, 6), ALLOW), ("tgkill", (OTHER, OTHER, 6), EPERM), ("tgkill", (0, OTHER, 6), EPERM),
    ("tgkill", (-1, OTHER, 6), EPERM),
    ("tkill", (PID, 6), ALLOW), ("tkill", (OTHER, 6), EPERM),
    ("rt_sigqueueinfo", (PID, 6, 1), ALLOW), ("rt_sigqueueinfo", (OTHER, 6, 1), EPERM),
    ("rt_tgsigqueueinfo", (PID, PID + 1, 6, 1), ALLOW), ("rt_tgsigqueueinfo", (OTHER, PID, 6, 1), EPERM),
    *[(call, (pid, 1, 2), found) for call in (
        "prlimit64", "sched_setparam", "sched_setscheduler", "sched_setattr", "sched_setaffinity", "get_robust_list")
      for pid, found in ((0, ALLOW), (PID, ALLOW), (OTHER, EPERM), (-1, EPERM))],
    ("setpriority", (0, 0, 5), ALLOW), ("setpriority", (0, PID, 5), ALLOW), ("setpriority", (0, OTHER, 5), EPERM),
    ("setpriority", (1, 0, 5), EPERM), ("setpriority", (2, 0, 5), EPERM),
    ("ioprio_set", (1, 0, 5), ALLOW), ("ioprio_set", (1, PID, 5), ALLOW), ("ioprio_set", (1, OTHER, 5), EPERM),
    ("ioprio_set", (2, 0, 5), EPERM), ("ioprio_set", (3, 0, 5), EPERM),
    ("clone", (THREAD,), ALLOW), ("clone", (signal.SIGCHLD,), ALLOW),
    *[("clone", (flag | signal.SIGCHLD,), EPERM) for flag in (
        0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x8000, 0x2000)],
    ("clone3", (0, 0), ENOSYS),
    ("socketpair", (socket.AF_UNIX, STREAM, 0), ALLOW), ("socketpair", (socket.AF_UNIX, SEQPACKET, 0), ALLOW),
    ("socketpair", (socket.AF_UNIX, STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, 0), ALLOW),
    ("socketpair", (socket.AF_UNIX, DGRAM, 0), EPERM), ("socketpair", (socket.AF_UNIX, RAW, 0), EPERM),
    ("socketpair", (socket.AF_UNIX, DGRAM | socket.SOCK_CLOEXEC, 0), EPERM),
    ("socketpair", (socket.AF_INET, STREAM, 0), EPERM), ("socketpair", (socket.AF_UNIX, DGRAM | HIGH, 0), EPERM),
    ("socket", (socket.AF_UNIX, SEQPACKET | socket.SOCK_CLOEXEC, 0), ALLOW),
    ("socket", (socket.AF_UNIX, DGRAM, 0), EPERM), ("socket", (socket.AF_INET, STREAM, 0), EPERM),
    ("socket", (socket.AF_INET, DGRAM, 0), EPERM), ("socket", (socket.AF_NETLINK, RAW, 0), EPERM),
    ("bind", (3, 0, 0), ALLOW), ("listen", (3, 1), ALLOW),
    ("personality", (0xFFFF_FFFF,), ALLOW), ("personality", (0,), EPERM), ("personality", (0x8,), EPERM),
    # PR_SET_NAME, PR_SET_NO_NEW_PRIVS; PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SCHED_CORE.
    *[("prctl", (option, 1), ALLOW) for option in (15, 38)], *[("prctl", (option, 1), EPERM) for option in (1, 4, 62)],
    *[("fcntl", (3, command, 1), ALLOW) for command in (
        fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL,
        fcntl.F_SETLK, fcntl.F_GETOWN, fcntl.F_GET_SEALS, fcntl.F_GETPIPE_SZ)],
    *[("fcntl", (3, command, 1), EPERM) for command in (
        fcntl.F_SETOWN, fcntl.F_SETSIG, 15, fcntl.F_SETLEASE, fcntl.F_NOTIFY, fcntl.F_SETPIPE_SZ, fcntl.F_ADD_SEALS,
        1040, fcntl.F_SETOWN | HIGH)],
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOASYNC, FIOCLEX; one of nvidiactl's, one of nvidia-uvm's.
    *[("ioctl", (3, request, 1), ALLOW) for request in (
        0x5401, 0x5413, 0x541B, 0x5421, 0x5452, 0x5451, 0xC020462A, 0x30000001)],
    # FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX, TIOCSCTTY, TIOCSETD; FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR,
    # FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY, BTRFS_IOC_SUBVOL_CREATE.
    *[("ioctl", (3, request, 1), EPERM) for request in (
        0x8901, 0x8902, 0x5412, 0x541C, 0x540E, 0x5423, 0x40086602, 0x401C5820, 0x40806685, 0x800C6613, 0x5000940E,
        0x5412 | HIGH)],
    ("mmap", (0, 4096, 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS), ALLOW),
    # All of madvise(2) up to MADV_GUARD_REMOVE, but MADV_REMOVE, MADV_COLD, MADV_PAGEOUT and MADV_COLLAPSE.
    *[("madvise", (4096, 4096, advice), ALLOW) for advice in (*range(9), *range(10, 20), *range(22, 25), 102, 103)],
    *[("madvise", (4096, 4096, advice), EPERM) for advice in (9, 20, 21, 25, 9 | HIGH)],
    # FALLOC_FL_KEEP_SIZE, and with it FALLOC_FL_ZERO_RANGE; FALLOC_FL_PUNCH_HOLE with and without it.
    *[("fallocate", (3, mode, 0, 4096), ALLOW) for mode in (0, 1, 0x11)],
    *[("fallocate", (3, mode, 0, 4096), EPERM) for mode in (2, 3, 3 | HIGH)],
]
# Where no GPU's driver is at work, more is refused.
WITHOUT_A_GPU = [
    ("socket", (socket.AF_UNIX, STREAM, 0), EPERM), ("socket", (socket.AF_UNIX, SEQPACKET, 0), EPERM),
    ("bind", (3, 0, 0), EPERM), ("listen", (3, 1), EPERM),
    ("socketpair", (socket.AF_UNIX, STREAM, 0), EPERM), ("socketpair", (socket.AF_UNIX, SEQPACKET, 0), EPERM),
    ("mmap", (0, 4096, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), ALLOW),
    ("mmap", (0, 4096, 3, mmap.MAP_SHARED), ALLOW),
    # MAP_NORESERVE and MAP_POPULATE change nothing; 3 is MAP_SHARED_VALIDATE.
    *[("mmap", (0, 4096, 3, kind | mmap.MAP_ANONYMOUS | more), EPERM)
      for kind in (mmap.MAP_SHARED, 3) for more in (0, 0x4000, 0x8000, HIGH)],
]


@machines
@pytest.mark.parametrize(("call", "args", "expected"), ARGUMENTS)
def test_arguments_decide(machine: str, call: str, args: tuple[int, ...], expected: int) -> None:
    number = number_of(machine, call)
    assert number is not None
    assert answer(machine, number, *args, allow_exec=True) == expected
    if call not in {call for call, _, _ in WITHOUT_A_GPU}:
        assert answer(machine, number, *args) == expected


@machines
@pytest.mark.parametrize(("call", "args", "expected"), WITHOUT_A_GPU)
def test_arguments_decide_without_a_gpu(machine: str, call: str, args: tuple[int, ...], expected: int) -> None:
    number = number_of(machine, call)
    assert number is not None
    assert answer(machine, number, *args) == expected


def test_every_call_whose_arguments_decide_is_tested() -> None:
    assert {call for call, _, _ in ARGUMENTS} == set(EXAMINED)


@pytest.mark.parametrize(("machine", "header"), [
    ("x86_64", "x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "asm-generic/unistd.h")])
def test_numbers_are_those_of_the_kernels_headers(machine: str, header: str) -> None:
    path = Path("/usr/include") / header
    if not path.exists():
        pytest.skip("no kernel headers here")
    # Where 32-bit and 64-bit machines have two names for one number, the header says __NR3264_.
    found = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text())}
    for call in REFUSED | EXEC | EXAMINED:
        # Older headers know fewer calls, and x86 has old calls that newer architectures never got.
        if call in found:
            assert number_of(machine, call) == found[call], call
        else:
            assert (number_of(machine, call) or NEWEST) > max(found.values()), call


# The filter on this kernel

PRELUDE = """
import ctypes, errno, fcntl, json, mmap, os, signal, socket, subprocess, sys, threading
from grader.confine import seccomp
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(*map(ctypes.c_long, (number, *args)))
    return ctypes.get_errno() if result == -1 else 0
kept = []
def pointer(kind, *values):
    kept.append((kind * len(values))(*values))
    return ctypes.addressof(kept[-1])
def column(name):
    return (seccomp.REFUSED | seccomp.EXEC | seccomp.EXAMINED)[name][seccomp.ARCHITECTURES[os.uname().machine].column]
"""


def run(
    body: str, *args: object, filtered: bool = True, allow_exec: bool = False, before: str = "",
    descriptors: tuple[int, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs `before`, then under the filter `body`, in a program and a session of their own."""
    install = f"seccomp.install(allow_exec={allow_exec})\n" if filtered else ""
    return subprocess.run(
        [sys.executable, "-B", "-c", f"{PRELUDE}{textwrap.dedent(before)}\n{install}{textwrap.dedent(body)}",
         *map(str, args)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=SECONDS, start_new_session=True, pass_fds=descriptors, check=False)


def printed(body: str, *args: object, **how: Any) -> str:
    done = run(body, *args, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# No memory is at address -1, no descriptor or process has that number, no flags are all set: harmless even as root.
# Of a few calls -1 would make something, so they ask for what is not there.
KEY = 0x6B6D6172
SPECIAL = {"msgget": (KEY, 0), "shmget": (KEY, 0, 0), "semget": (KEY, 0, 0)}
# Without the filter, too, the kernel may say EPERM here, before it looks at the arguments: to those without a
# capability, or because the system was set up so (lockdown, kernel.io_uring_disabled, kernel.kexec_load_disabled, ...).
OWN_EPERM = frozenset({
    "setdomainname", "pivot_root", "fsmount", "move_mount", "syslog", "fsopen", "swapoff", "swapon", "fspick", "acct",
    "setgroups", "sethostname", "vhangup", "fanotify_init", "reboot", "mount", "umount2", "open_by_handle_at", "chroot",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "iopl", "ioperm", "io_uring_setup",
    "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd", "quotactl", "quotactl_fd",
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
@pytest.mark.parametrize("call", REFUSED | EXEC)
def test_the_kernel_refuses_the_call_because_of_the_filter(
    call: str, answers: tuple[dict[str, int], dict[str, int]],
) -> None:
    with_filter, without = answers
    if call not in with_filter:
        pytest.skip("this architecture has no such call")
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
def test_a_worker_may_still_signal_itself() -> None:
    assert printed("""
        signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        # A second thread's own: pthread_kill names that thread.
        t = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
        t.start(); t.join()
    """) == "\n".join(["handled"] * 4)
    assert run("os.abort()").returncode == -signal.SIGABRT


@on_this_system
def test_every_thread_is_under_the_filter() -> None:
    before = """
        go, answer = threading.Event(), []
        def work():
            go.wait()
            answer.append(call(column("socket"), socket.AF_UNIX, socket.SOCK_STREAM, 0))
        thread = threading.Thread(target=work)
        thread.start()
    """
    body = "go.set(); thread.join(); print(answer[0])"
    assert printed(body, before=before) == str(errno.EPERM)
    assert printed(body, before=before, filtered=False) == "0"


@on_this_system
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="32-bit calls are made with an instruction of x86's")
def test_a_32_bit_call_kills() -> None:
    # mov eax, 20 (getpid); int 0x80; ret
    body = """
        rights = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        memory = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, rights)
        memory.write(bytes.fromhex("b814000000cd80c3"))
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
    """
    if run(body, filtered=False).returncode != 0:
        pytest.skip("this kernel has no 32-bit calls")
    assert run(body).returncode == -signal.SIGSYS


@on_this_system
def test_programs_run_only_if_allowed() -> None:
    body = """
        try:
            print(subprocess.run([sys.executable, "-S", "-c", "pass"]).returncode)
        except PermissionError:
            print("refused")
    """
    assert printed(body) == "refused"
    assert printed(body, allow_exec=True) == "0"
    # What is run is under the filter still.
    child = "import socket\ntry: socket.socket()\nexcept PermissionError: print('refused')"
    assert printed("subprocess.run([sys.executable, '-S', '-c', sys.argv[1]])", child, allow_exec=True) == "refused"


@on_this_system
def test_ordinary_work_goes_on(tmp_path: Path) -> None:
    assert printed("""
        os.chdir(sys.argv[1])
        threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(8)]
        [t.start() for t in threads]; [t.join() for t in threads]
        pid = os.fork()
        if not pid:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        own = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        own.write(b"x" * 1000)
        for advice in (mmap.MADV_WILLNEED, mmap.MADV_FREE, mmap.MADV_DONTFORK, mmap.MADV_DONTNEED):
            own.madvise(advice)
        assert own[0] == 0
        import pathlib, shutil, tempfile, time
        with tempfile.TemporaryDirectory(dir=".") as folder:
            file = pathlib.Path(folder, "a")
            file.write_text("text")
            os.replace(file, pathlib.Path(folder, "b"))
            descriptor = os.open(pathlib.Path(folder, "b"), os.O_RDWR)
            os.ftruncate(descriptor, 1)
            os.posix_fallocate(descriptor, 0, 8192)
            # FALLOC_FL_KEEP_SIZE
            assert libc.fallocate(descriptor, 1, ctypes.c_long(0), ctypes.c_long(16384)) == 0
            assert os.fstat(descriptor).st_size == 8192
        os.nice(1)
        os.sched_setaffinity(0, os.sched_getaffinity(0))
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(os.getpid(), resource.RLIMIT_CORE, (0, 0))
        print("done")
    """, tmp_path) == "done"


@on_this_system
def test_a_sealed_memfd_arrives_with_a_message_and_the_answer_goes_back() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        memory = os.memfd_create("tensor", os.MFD_ALLOW_SEALING)
        os.ftruncate(memory, 4096)
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        socket.send_fds(ours, [b"take"], [memory])
        body = """
            # A socket that is adopted by number asks the kernel what it is; it opens none.
            channel = socket.socket(fileno=int(sys.argv[1]))
            frame, descriptors, _, _ = socket.recv_fds(channel, 100, 1)
            shared = mmap.mmap(descriptors[0], 4096)
            shared[:5] = b"hello"
            try:
                fcntl.fcntl(descriptors[0], fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
            except PermissionError:
                channel.sendmsg([b"taken"])
        """
        printed(body, theirs.fileno(), descriptors=(theirs.fileno(),))
        assert ours.recv(100) == b"taken"
        assert os.pread(memory, 5, 0) == b"hello"
        os.close(memory)


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
def test_torch_numpy_and_an_interpreted_kernel_work(tmp_path: Path) -> None:
    # Triton reads a kernel's source from a file.
    (tmp_path / "doubling.py").write_text(textwrap.dedent("""
        import os
        os.environ["TRITON_INTERPRET"] = "1"
        import numpy, torch, triton
        import triton.language as tl

        @triton.jit
        def double(x, out, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

        def work():
            x = torch.randn(1000)
            out = torch.empty_like(x)
            double[(triton.cdiv(1000, 256),)](x, out, 1000, BLOCK=256)
            assert torch.equal(out, 2 * x)
            a = torch.randn(64, 64)
            assert torch.allclose(a @ a, torch.from_numpy(a.numpy() @ a.numpy()), atol=1e-3)
            numpy.linalg.svd(numpy.eye(8))
    """))
    before = "sys.path.insert(0, sys.argv[1])\nimport doubling"
    assert printed("doubling.work(); print('done')", tmp_path, before=before) == "done"


@on_this_system
def test_where_filters_are_refused_it_is_said() -> None:
    # As in a container whose own filter refuses seccomp(2).
    before = """
        import struct
        code = seccomp._block(seccomp.ARCHITECTURES[os.uname().machine].seccomp, [seccomp._DENIED])
        code = [seccomp.Instruction(0x20, 0, 0, 0), *code, seccomp._ALLOWED]
        packed = b"".join(struct.pack("=HBBI", *one) for one in code)
        assert seccomp.available()
        libc.prctl(38, 1, 0, 0, 0)
        seccomp._seccomp(os.uname().machine, seccomp._Program(len(code), packed))
        assert not seccomp.available()
    """
    failed = run("", before=before)
    assert "PermissionError" in failed.stderr and "the seccomp filter was not taken" in failed.stderr


@on_this_system
def test_asking_installs_nothing_and_a_second_filter_may_follow() -> None:
    body = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('Seccomp:')][0])"
    before = "assert seccomp.available()"
    own = "2" if filtered_already() else "0"
    assert printed(body, before=before, filtered=False) == own
    assert printed(body, before="seccomp.install(allow_exec=True)") == "2"
