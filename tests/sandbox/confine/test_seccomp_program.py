"""The filter allows and refuses the right calls of either architecture, as an interpreter of classic BPF runs it."""

import errno
import fcntl
import mmap
import os
import re
import signal
import socket
import struct
from pathlib import Path

import pytest

from grader.sandbox.confine import seccomp
from grader.sandbox.confine.seccomp import ARCHITECTURES, EXAMINED, EXEC, NEWEST, REFUSED
from tests.rows import each_row
from tests.sandbox.confine.filtered import on_this_system, printed, run

PID = 4321
OTHER = 77
HIGH = 1 << 32

ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
EPERM, ENOSYS = 0x0005_0000 | errno.EPERM, 0x0005_0000 | errno.ENOSYS


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
# Workers that start no programs are refused more.
WITHOUT_PROGRAMS = [
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
@each_row(("call", "args", "expected"), ARGUMENTS)
def test_arguments_decide(machine: str, call: str, args: tuple[int, ...], expected: int) -> None:
    number = number_of(machine, call)
    assert number is not None
    assert answer(machine, number, *args, allow_exec=True) == expected
    if call not in {call for call, _, _ in WITHOUT_PROGRAMS}:
        assert answer(machine, number, *args) == expected


@machines
@each_row(("call", "args", "expected"), WITHOUT_PROGRAMS)
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


@on_this_system
def test_a_worker_may_still_signal_itself(text: str) -> None:
    assert printed(text) == "\n".join(["handled"] * 4)
    assert run("os.abort()").returncode == -signal.SIGABRT


@on_this_system
def test_ordinary_work_goes_on(text: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == "done"


@on_this_system
def test_a_sealed_memfd_arrives_with_a_message_and_the_answer_goes_back(text: str) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        memory = os.memfd_create("tensor", os.MFD_ALLOW_SEALING)
        os.ftruncate(memory, 4096)
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        socket.send_fds(ours, [b"take"], [memory])
        printed(text, theirs.fileno(), descriptors=(theirs.fileno(),))
        assert ours.recv(100) == b"taken"
        assert os.pread(memory, 5, 0) == b"hello"
        os.close(memory)


@on_this_system
def test_torch_numpy_and_an_interpreted_kernel_work(text: str, tmp_path: Path) -> None:
    # Triton reads a kernel's source from a file.
    (tmp_path / "doubling.py").write_text(text)
    before = "sys.path.insert(0, sys.argv[1])\nimport doubling"
    assert printed("doubling.work(); print('done')", tmp_path, before=before) == "done"
