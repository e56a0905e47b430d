"""Landlock: after `restrict`, this process and its children reach only the files and folders that were named.

It needs no privilege. Processes outside the domain can be neither traced nor read through /proc (mem, environ, maps,
the targets of fd), even by the same user and even if /proc is among the readable folders.

Up to ABI 7 Landlock leaves the following open, and a seccomp filter has to close it: stat, chdir, chmod, chown, utime
and xattr on every path; unix sockets that have a path; TCP without bind and connect (listen alone, fast open, MPTCP),
and every other protocol. Older ABIs leave more open: below 3 truncate, below 4 TCP, below 5 ioctl on devices, below 6
abstract unix sockets and signals. Descriptors opened earlier stay usable, and memfds can be opened anew.

Source: landlock(7); Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h of Linux.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import stat
import struct
from collections.abc import Sequence

from grader.sandbox.confine import processes

# System calls since Linux 5.13 have the same number on x86_64 and aarch64.
_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

# statfs(2)
_PROC_SUPER_MAGIC = 0x9FA0
_STATFS_WORDS = 64

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_REMOVE_DIR = 1 << 4
_REMOVE_FILE = 1 << 5
_MAKE_DIR = 1 << 7
_MAKE_REG = 1 << 8
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15

# The rights that each ABI added: on files (ABI 1: execute to make_sym), on TCP (bind, connect), scopes (abstract unix
# sockets, signals). The ruleset handles all of them, so each is refused unless a rule allows it.
FILES = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
TCP = {4: 0b11}
SCOPES = {6: 0b11}

# ABI 1 refuses every rename from one folder to another with EXDEV, and compilers' caches need to rename.
LEAST_ABI = 2
LEAST_KERNEL = [5, 19]
# ABI 7 adds only switches of the audit log. The rights of later ABIs are unknown here and stay open.
MOST_ABI = 6

_READ = _READ_FILE | _READ_DIR
_USE = _READ | _WRITE_FILE | _TRUNCATE
# A worker may make no device node, socket or FIFO, which no honest worker needs, and no symbolic link, which could lead
# a later reader out of the folder. Nor may it execute a file that it wrote.
_WRITE = _USE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER
# The kernel refuses any other right in a rule on something that is not a folder.
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def abi() -> int:
    """Return the version of Landlock's interface that the kernel offers; 0 if there is none, or it is forbidden."""
    try:
        return _call(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    except OSError:
        # ENOSYS: not built in; EOPNOTSUPP: switched off; EPERM: a container's filter refuses the call.
        return 0


def trouble() -> str:
    """Return why Landlock does not protect here, and what helps; "" if it does."""
    try:
        version = _call(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
        return "" if version >= LEAST_ABI else f"ABI {version} is too old; a kernel of 5.19 or newer has {LEAST_ABI}"
    except OSError as error:
        code = error.errno
    numbers = [int(part) for part in re.findall(r"\d+", platform.release())[:2]]
    if code == errno.EPERM:
        return "the container forbids it; start it with a seccomp profile that allows landlock_create_ruleset"
    if numbers < LEAST_KERNEL:
        return f"Linux {platform.release()} has none; a kernel of 5.19 or newer has it"
    if code == errno.EOPNOTSUPP:
        return "the kernel has it switched off; add landlock to lsm= among the parameters of its start"
    return "the kernel was built without it, or the container hides it; try another container, or a virtual machine"


def restrict(
    *, read: Sequence[str], write: Sequence[str], devices: Sequence[str] = (), listed: Sequence[str] = (), execute: bool
) -> int:
    """Limit this process and its children, for good, to the named files and folders, and forbid TCP.

    Restricts the calling **thread** and every thread or process that it starts later, so call it while the process has
    one thread. Sets no_new_privs. A symbolic link names its target. Paths that do not exist are skipped. For each
    path beneath /proc one descriptor (O_PATH, closed by exec) stays open; see `_on_proc`.

    Args:
        read: files, and folders beneath which files may be read and folders listed.
        write: folders beneath which files and folders may also be created, written, renamed and removed.
        devices: device nodes and files that may be read, written and given ioctl, and folders full of such.
        listed: folders that may be listed; so may the folders beneath them.
        execute: whether the files of `read` may be executed. No other file may.

    Returns:
        The ABI whose rights are now enforced, at most MOST_ABI.

    Raises:
        OSError: Landlock is missing, below ABI 2, or refuses the rules. The process is then not restricted.
    """
    if any(isinstance(paths, str) for paths in (read, write, devices, listed)):
        # A string would count as a list of letters, and its "/" would allow everything.
        raise TypeError("landlock: a list of paths expected, not one path")
    ruleset, version, handled = _ruleset()
    kept: list[int] = []
    try:
        for paths, rights in (
            (read, _READ | (_EXECUTE if execute else 0)),
            (write, _WRITE),
            (devices, _USE | _IOCTL_DEV),
            (listed, _READ_DIR),
        ):
            for path in paths:
                try:
                    kept.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
                except (FileNotFoundError, NotADirectoryError):
                    continue
                allowed = rights & handled & (-1 if stat.S_ISDIR(os.fstat(kept[-1]).st_mode) else _ON_FILES)
                _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", allowed, kept[-1]), 0, about=path)
                # A rule outlives its descriptor, and a worker may have fewer descriptors than there are paths.
                if not _on_proc(kept[-1]):
                    os.close(kept.pop())
        processes.gain_nothing_by_exec()
        _call(_RESTRICT_SELF, ruleset, 0)
    except BaseException:
        for descriptor in kept:
            os.close(descriptor)
        raise
    finally:
        os.close(ruleset)
    return version


def _ruleset() -> tuple[int, int, int]:
    """Make a new ruleset; return its descriptor, its ABI, and the rights on files that it handles."""
    version = min(abi(), MOST_ABI)
    if version < LEAST_ABI:
        raise OSError(errno.EOPNOTSUPP, f"landlock: ABI {LEAST_ABI} is needed, the kernel offers {version}")
    while True:
        files, tcp, scopes = (_sum(rights, version) for rights in (FILES, TCP, SCOPES))
        attributes = struct.pack("=QQQ", files, tcp, scopes)
        try:
            return _call(_CREATE_RULESET, attributes, len(attributes), 0), version, files
        except OSError as error:
            # The kernel claims an ABI but lacks some of its rights. Some rights are better than none.
            if error.errno != errno.EINVAL or version == LEAST_ABI:
                raise
            version -= 1


def _sum(added: dict[int, int], version: int) -> int:
    return sum(bits for since, bits in added.items() if since <= version)


def _on_proc(place: int) -> bool:
    """Return whether descriptor `place` belongs to procfs.

    A rule holds for an inode. Under memory pressure procfs forgets a name, and later makes a new inode for it: the rule
    would be lost in the middle of a run. An open descriptor keeps the name.
    """
    answer = (ctypes.c_long * _STATFS_WORDS)()
    return ctypes.CDLL(None).fstatfs(place, answer) == 0 and answer[0] == _PROC_SUPER_MAGIC


def _call(number: int, *arguments: int | bytes | None, about: str | None = None) -> int:
    """Make a system call. Raises OSError with its name if it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    passed = (ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value) for value in arguments)
    answer: int = libc.syscall(ctypes.c_long(number), *passed)
    if answer < 0:
        names = {_CREATE_RULESET: "create_ruleset", _ADD_RULE: "add_rule", _RESTRICT_SELF: "restrict_self"}
        code = ctypes.get_errno()
        raise OSError(code, f"landlock_{names[number]}: {os.strerror(code)}", about)
    return answer
