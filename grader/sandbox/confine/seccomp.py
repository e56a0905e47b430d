"""A seccomp-BPF filter that refuses system calls which no kernel's author needs: on other processes, the network, the
machine.

A filter is a program in classic BPF that the kernel runs at every system call. It sees the call's number, its
architecture and its six arguments, but no memory (seccomp(2); Documentation/userspace-api/seccomp_filter.rst in Linux).
Children inherit it, exec keeps it, and nothing removes it. Our filter asks in this order:

    another architecture's calling convention?  the process is killed
    a number newer than this file, or x32's?    refused
    one block for each call of EXAMINED         looks at arguments, then allows or refuses
    one block for each call of REFUSED          refuses
    everything else                             allowed

A block begins with "is it this number? else skip the block" and ends with an answer, so no jump leaves its block, and
none spans nearly the 255 instructions that a jump can. Since Linux 5.11 the kernel keeps a bitmap of the calls that are
allowed whatever their arguments, and does not run the filter for them.

A refused call fails with EPERM, which programs expect of a sandbox. The lists name denied calls, not allowed ones:
nobody has listed the calls of CUDA's driver and torch, and Landlock, namespaces and limits help.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
import sys
from typing import NamedTuple

from grader.sandbox.confine import processes

# seccomp(2); linux/seccomp.h
_SET_MODE_FILTER = 1
_FLAG_TSYNC = 1
_ALLOW = 0x7FFF_0000
_ERRNO = 0x0005_0000
_KILL_PROCESS = 0x8000_0000

# linux/bpf_common.h: load a word of the data, mask it, return an answer; jump after comparing with a constant.
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_ABOVE, _IF_AT_LEAST, _IF_ANY_BIT = 0x15, 0x25, 0x35, 0x45
_WORD = 0xFFFF_FFFF

# struct seccomp_data: number, architecture, instruction pointer, then six arguments of 64 bits. Both architectures are
# little-endian, so an argument's low half comes first. The kernel takes every argument examined here as an int or
# unsigned int, and ignores the high half. The filter ignores that half, too: otherwise a bit set there would slip a
# value past it.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

# The tables give each call's number on x86_64 and on aarch64 (None: there is none), from arch/x86/entry/syscalls/
# syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.18, whose newest call has this number.
NEWEST = 469

REFUSED: dict[str, tuple[int, int | None]] = {
    # Calls on other processes: reading them, controlling them, holding a handle on them.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "perf_event_open": (298, 241),
    # Placing pages, shared ones included, in the memory of another node.
    "migrate_pages": (256, 238), "move_pages": (279, 239), "set_mempolicy_home_node": (450, 450),
    # Large subsystems that a GPU kernel's author does not need.
    "bpf": (321, 280), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_setup": (206, 0), "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "uselib": (134, None),
    "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None), "lsm_set_self_attr": (460, 460),
    # Namespaces and mounts.
    "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40),
    "umount2": (166, 39), "mount_setattr": (442, 442), "move_mount": (429, 429), "open_tree": (428, 428),
    "open_tree_attr": (467, 467), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # The machine as a whole. sync and syncfs stall the files of all users.
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "create_module": (174, None),
    "query_module": (178, None), "get_kernel_syms": (177, None), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "syslog": (103, 116), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443), "vhangup": (153, 58),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "sync": (162, 81), "syncfs": (306, 267),
    "_sysctl": (156, None),
    # A timer can send SIGCONT, which wakes a process that the judge has stopped.
    "timer_create": (222, 107),
    # A new session would get a share of the processors beside the grader's share (autogroup).
    "setsid": (112, 157),
    # Identity, which is set before the filter is installed.
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143), "setresuid": (117, 147),
    "setresgid": (119, 149), "setfsuid": (122, 151), "setfsgid": (123, 152), "setgroups": (116, 159),
    "capset": (126, 91),
    # Memory that no process maps, or that outlives a process that is killed.
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "shmdt": (67, 197), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184), "mq_getsetattr": (245, 185), "vmsplice": (278, 75), "tee": (276, 77), "splice": (275, 76),
    # Calls that Landlock leaves open: a file's attributes by path, and watching folders. A hard link would keep another
    # user's file alive where the kernel does not protect hard links.
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "utimensat": (280, 88), "futimesat": (261, None), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "setxattrat": (463, 463), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "removexattrat": (466, 466), "file_setattr": (469, 469), "truncate": (76, 45),
    "mknod": (133, None), "mknodat": (259, 33), "link": (86, None), "linkat": (265, 37), "inotify_init": (253, None),
    "inotify_init1": (294, 26), "inotify_add_watch": (254, 27), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    # The network, AF_UNIX included; see also EXAMINED.
    "accept": (43, 202), "accept4": (288, 242), "connect": (42, 203),
}

# Starting programs: a compiler's worker starts its assembler, other workers start none.
EXEC: dict[str, tuple[int, int | None]] = {"execve": (59, 221), "execveat": (322, 281)}

EXAMINED: dict[str, tuple[int, int | None]] = {
    "ioctl": (16, 29), "fcntl": (72, 25), "prctl": (157, 167), "clone": (56, 220), "clone3": (435, 435),
    "socket": (41, 198), "socketpair": (53, 199), "bind": (49, 200), "listen": (50, 201), "personality": (135, 92),
    "mmap": (9, 222), "madvise": (28, 233), "fallocate": (285, 47),
    "kill": (62, 129), "tgkill": (234, 131), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "prlimit64": (302, 261), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "get_robust_list": (274, 100), "setpriority": (141, 140), "ioprio_set": (251, 30),
}

_FCNTL = {
    # The kernel would signal any process that the call names as the owner.
    "F_SETOWN": 8, "F_SETSIG": 10, "F_SETOWN_EX": 15,
    # A lease on a file of the same user makes other processes wait up to 45 seconds to open it.
    "F_SETLEASE": 1024, "F_SETDELEG": 1040,
    # Watching folders.
    "F_NOTIFY": 1026,
    # Larger pipes are memory that no limit of a process counts. Seals are set by the judge alone.
    "F_SETPIPE_SZ": 1031, "F_ADD_SEALS": 1033,
}
_IOCTL = {
    # The same as F_SETOWN.
    "FIOSETOWN": 0x8901, "SIOCSPGRP": 0x8902,
    # Typing into a terminal, taking it over, loading a line discipline.
    "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSCTTY": 0x540E, "TIOCSETD": 0x5423,
}
# The second byte of a request names its kind. Requests to file systems (flags, immutability, subvolumes) need only a
# descriptor open for reading, and Landlock does not see them.
_IOCTL_KIND = 0xFF00
_FILE_SYSTEM_IOCTLS = (ord("f") << 8, ord("X") << 8, 0x94 << 8)
_PRCTL = {
    # Outliving the fork server, hiding /proc/PID from a judge of the same user, sharing a core with another process.
    "PR_SET_PDEATHSIG": 1, "PR_SET_DUMPABLE": 4, "PR_SCHED_CORE": 62,
}
_CLONE = {
    "CLONE_NEWNS": 0x0002_0000, "CLONE_NEWCGROUP": 0x0200_0000, "CLONE_NEWUTS": 0x0400_0000,
    "CLONE_NEWIPC": 0x0800_0000, "CLONE_NEWUSER": 0x1000_0000, "CLONE_NEWPID": 0x2000_0000,
    "CLONE_NEWNET": 0x4000_0000,
    # Making a child of the fork server instead of the worker; making a child that the parent's tracer traces.
    "CLONE_PARENT": 0x8000, "CLONE_PTRACE": 0x2000,
}
# MAP_SHARED or MAP_SHARED_VALIDATE with MAP_ANONYMOUS, and the bits that hold a mapping's kind.
_SHARED_ANONYMOUS = (0x21, 0x23)
_MAPPING = 0x2F
# Memory that is shared with the judge is also mapped by the baseline's worker. These calls take the pages from every
# process that maps them, which then has to fault each page in again; only F_SEAL_WRITE would prevent it. MADV_COLLAPSE
# makes huge pages, which the judge could not replace one by one. All other advice concerns the caller's own mapping.
_MADVISE = {"MADV_REMOVE": 9, "MADV_COLD": 20, "MADV_PAGEOUT": 21, "MADV_COLLAPSE": 25}
# The same effect through a descriptor.
_FALLOCATE = {"FALLOC_FL_PUNCH_HOLE": 2}
_PERSONALITY_QUERY = 0xFFFF_FFFF
_PRIO_PROCESS = 0
_IOPRIO_WHO_PROCESS = 1


class Architecture(NamedTuple):
    """A processor architecture: `audit` is its AUDIT_ARCH_* of linux/audit.h, `column` its column in the tables above,
    `seccomp` the number of the call seccomp."""

    audit: int
    column: int
    seccomp: int


ARCHITECTURES = {"x86_64": Architecture(0xC000_003E, 0, 317), "aarch64": Architecture(0xC000_00B7, 1, 277)}


class Instruction(NamedTuple):
    """A struct sock_filter, whose bytes the kernel reads: an operation; instructions to skip if its comparison holds,
    and if not; a constant."""

    code: int
    if_true: int
    if_false: int
    constant: int


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _answer(action: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, action)


_ALLOWED = _answer(_ALLOW)
_DENIED = _answer(_ERRNO | errno.EPERM)
_UNKNOWN = _answer(_ERRNO | errno.ENOSYS)


def _load(argument: int, mask: int) -> list[Instruction]:
    load = [Instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
    return load if mask == _WORD else [*load, Instruction(_AND, 0, 0, mask)]


def _require(argument: int, *values: int, mask: int = _WORD) -> list[Instruction]:
    """Return instructions that go on if the argument's bits in `mask` equal one of `values`, else refuse."""
    tests = [Instruction(_IF_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)]
    return [*_load(argument, mask), *tests, _DENIED]


def _forbid(argument: int, *values: int, mask: int = _WORD) -> list[Instruction]:
    """Return instructions that refuse if the argument's bits in `mask` equal one of `values`, else go on."""
    last = len(values) - 1
    tests = [Instruction(_IF_EQUAL, last - i, int(i == last), value) for i, value in enumerate(values)]
    return [*_load(argument, mask), *tests, _DENIED]


def _forbid_bits(argument: int, bits: int) -> list[Instruction]:
    return [*_load(argument, _WORD), Instruction(_IF_ANY_BIT, 0, 1, bits), _DENIED]


def _block(number: int, body: list[Instruction]) -> list[Instruction]:
    """Return instructions that run `body`, which ends with an answer, for this call; any other call skips it."""
    return [Instruction(_IF_EQUAL, 0, len(body), number), *body]


def _rules(pid: int, allow_exec: bool) -> dict[str, list[Instruction]]:
    """Return the tests on the arguments of each call in EXAMINED. A call that passes all its tests is allowed."""
    # Only a compiler's worker, which runs no Python of a submission, may have sockets and shared mappings. Socket
    # pairs, and pages that no mapping holds any more, are memory that counts against no process.
    sockets, mmap = ([], []) if allow_exec else ([_DENIED], _forbid(3, *_SHARED_ANONYMOUS, mask=_MAPPING))
    # No datagram sockets: they can send to any address without connect.
    streams = [
        *sockets, *_require(0, socket.AF_UNIX),
        *_require(1, socket.SOCK_STREAM, socket.SOCK_SEQPACKET,
                  mask=_WORD & ~(socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK))]
    # A process group (0 or negative) is refused, too: it is the worker's own only after setsid. tkill takes the number
    # of a thread; the first thread's number is that of the process.
    own = _require(0, pid)
    # Only the first thread can be named by number; other threads name themselves by 0.
    own_or_self = _require(0, 0, pid)
    rules = dict.fromkeys(("kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), own)
    rules |= dict.fromkeys((
        "prlimit64", "sched_setparam", "sched_setscheduler", "sched_setattr", "sched_setaffinity", "get_robust_list"),
        own_or_self)
    return rules | {
        "ioctl": [*_forbid(1, *_IOCTL.values()), *_forbid(1, *_FILE_SYSTEM_IOCTLS, mask=_IOCTL_KIND)],
        "fcntl": _forbid(1, *_FCNTL.values()),
        "prctl": _forbid(0, *_PRCTL.values()),
        "clone": _forbid_bits(0, sum(_CLONE.values())),
        # The flags of clone3 are in memory, which a filter cannot read. glibc then falls back to clone.
        "clone3": [_UNKNOWN],
        "socket": streams, "socketpair": streams, "bind": sockets, "listen": sockets,
        "mmap": mmap,
        "madvise": _forbid(2, *_MADVISE.values()),
        "fallocate": _forbid_bits(1, sum(_FALLOCATE.values())),
        "personality": _require(0, _PERSONALITY_QUERY),
        "setpriority": [*_require(0, _PRIO_PROCESS), *_require(1, 0, pid)],
        "ioprio_set": [*_require(0, _IOPRIO_WHO_PROCESS), *_require(1, 0, pid)],
    }


def program(machine: str, pid: int, *, allow_exec: bool) -> list[Instruction]:
    """Return the filter for a process `pid` on `machine`, a key of ARCHITECTURES."""
    architecture = ARCHITECTURES[machine]
    code = [
        Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        Instruction(_IF_EQUAL, 1, 0, architecture.audit),
        _answer(_KILL_PROCESS),
        Instruction(_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        # Calls of x32 have bit 30 set. Its calls 512 to 547 worked without that bit before Linux 5.4.
        code += [Instruction(_IF_AT_LEAST, 0, 1, 512), _DENIED]
    # Calls newer than this file do not exist for the worker: programs fall back to older calls.
    code += [Instruction(_IF_ABOVE, 0, 1, NEWEST), _UNKNOWN]
    rules = _rules(pid, allow_exec)
    for name, numbers in EXAMINED.items():
        if (number := numbers[architecture.column]) is not None:
            code += _block(number, [*rules[name], _ALLOWED])
    for numbers in (REFUSED if allow_exec else REFUSED | EXEC).values():
        if (number := numbers[architecture.column]) is not None:
            code += _block(number, [_DENIED])
    return [*code, _ALLOWED]


def _machine() -> str | None:
    """Return this process's architecture; None if the tables lack it, as for a 32-bit process on a 64-bit kernel."""
    machine = os.uname().machine
    return machine if machine in ARCHITECTURES and sys.maxsize > _WORD else None


def _seccomp(machine: str, filter_program: _Program | None) -> tuple[int, int]:
    """Return the result and errno of seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program)."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.syscall.argtypes = (ctypes.c_long, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)
    pointer = None if filter_program is None else ctypes.addressof(filter_program)
    result = libc.syscall(ARCHITECTURES[machine].seccomp, _SET_MODE_FILTER, _FLAG_TSYNC, pointer)
    return result, ctypes.get_errno()


def available() -> bool:
    """Return whether the kernel, and any container around this process, lets it install a filter. Installs none."""
    machine = _machine()
    # With address 0 in place of a filter, a kernel that takes filters fails at reading it, and no earlier.
    return machine is not None and _seccomp(machine, None) == (-1, errno.EFAULT)


def install(*, allow_exec: bool) -> None:
    """Put every thread of this process under the filter, for good; `allow_exec` lets it run programs.

    Call it last: afterwards no user, death signal, dumpable flag, seal or namespace can be set. The filter holds the
    number of this process. Children inherit it, so they may signal this process only, and not even themselves.
    """
    machine = _machine()
    if machine is None:
        raise OSError(errno.ENOSYS, f"no seccomp filter for this architecture ({os.uname().machine})")
    processes.gain_nothing_by_exec()
    code = program(machine, os.getpid(), allow_exec=allow_exec)
    packed = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    result, error = _seccomp(machine, _Program(len(code), packed))
    if result < 0:
        raise OSError(error, f"the seccomp filter was not taken: {os.strerror(error)}")
    if result > 0:
        raise OSError(errno.EBUSY, f"the seccomp filter was not taken: thread {result} has a filter of its own")
