"""Landlock: after `restrict` this process and its children reach the files and folders named to it, and no others.

Needs no privilege. A process outside its domain can be neither traced nor read through /proc (mem, environ, maps,
the targets of fd), even by the same user and even where /proc is among the folders that may be read.

What Landlock leaves open up to ABI 7, so that a seccomp filter has to close it: stat, chdir, chmod, chown, utime and
xattr on every path; unix sockets that have a path; TCP by another door than bind and connect (listen alone, fast open,
MPTCP), and every other protocol. Below ABI 3 truncate, below 4 TCP, below 5 ioctl on devices, below 6 abstract
unix sockets and signals are open too. Descriptors opened before stay usable, and memfds can be opened anew.

Source: landlock(7); Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h of Linux.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Sequence

# Calls since Linux 5.13 have one number on every architecture this runs on (x86_64, aarch64).
_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

# prctl(2), statfs(2)
_PR_SET_NO_NEW_PRIVS = 38
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

# What each ABI added: rights on files (ABI 1: execute to make_sym), on TCP (bind, connect), scopes (abstract unix
# sockets, signals). All of them are handled, that is refused unless a rule allows them.
FILES = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: _IOCTL_DEV}
TCP = {4: 0b11}
SCOPES = {6: 0b11}

# ABI 1 refuses every rename from one folder to another with EXDEV, and compilers' caches rename: it cannot be used.
LEAST_ABI = 2
# ABI 7 adds only switches of the audit log. Rights of later ones are unknown here and stay open.
MOST_ABI = 6

_READ = _READ_FILE | _READ_DIR
_USE = _READ | _WRITE_FILE | _TRUNCATE
# No device nodes, sockets or FIFOs, which nothing honest makes; no symbolic links either, so that whoever looks into
# the folder later is not led out of it. No execution: what a worker writes it cannot start.
_WRITE = _USE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER
# The kernel refuses any other right in a rule on something that is not a folder.
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def abi() -> int:
    """The version of Landlock's interface that the kernel offers; 0 if there is none, or something forbids it."""
    try:
        return _call(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    except OSError:
        # ENOSYS: not built in; EOPNOTSUPP: not switched on; EPERM: the filter of a container.
        return 0


def restrict(*, read: Sequence[str], write: Sequence[str], devices: Sequence[str] = (), execute: bool) -> int:
    """Leaves to this process and its children the named files and folders, no TCP (bind, connect), no way back.

    It restricts the calling **thread** and what that starts later: call it while the process has no other thread.
    Sets no_new_privs. A path may be a symbolic link: its target is meant. Paths that do not exist are skipped.
    For each path beneath /proc one descriptor (O_PATH, closed by exec) stays open; see `_on_proc`.

    Args:
        read: files, and folders beneath which files may be read and folders listed.
        write: folders beneath which files and folders may also be created, written, renamed and removed.
        devices: device nodes and files that may be read, written and given ioctl; of a folder, all there is beneath.
        execute: whether what `read` names may be executed. Nothing else may.

    Returns:
        The ABI whose rights are now enforced, at most MOST_ABI.

    Raises:
        OSError: there is no Landlock of ABI 2 or later, or it refused. The process is then not restricted.
    """
    if any(isinstance(paths, str) for paths in (read, write, devices)):
        # Taken letter by letter it would allow "/".
        raise TypeError("landlock: a list of paths is wanted, not one path")
    ruleset, version, handled = _ruleset()
    places: list[int] = []
    kept: set[int] = set()
    try:
        for paths, rights in (
            (read, _READ | (_EXECUTE if execute else 0)),
            (write, _WRITE),
            (devices, _USE | _IOCTL_DEV),
        ):
            for path in paths:
                try:
                    places.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
                except (FileNotFoundError, NotADirectoryError):
                    continue
                _allow(ruleset, places[-1], rights & handled, path)
        _no_new_privs()
        _call(_RESTRICT_SELF, ruleset, 0)
        kept.update(place for place in places if _on_proc(place))
    finally:
        for descriptor in (ruleset, *places):
            if descriptor not in kept:
                os.close(descriptor)
    return version


def _ruleset() -> tuple[int, int, int]:
    """A new ruleset's descriptor, its ABI, and the rights on files that it handles."""
    version = min(abi(), MOST_ABI)
    if version < LEAST_ABI:
        raise OSError(errno.EOPNOTSUPP, f"landlock: ABI {LEAST_ABI} is needed, the kernel offers {version}")
    while True:
        files, tcp, scopes = (_sum(rights, version) for rights in (FILES, TCP, SCOPES))
        attributes = struct.pack("=QQQ", files, tcp, scopes)
        try:
            return _call(_CREATE_RULESET, attributes, len(attributes), 0), version, files
        except OSError as error:
            # The kernel claims an ABI of which it does not know all rights: fewer of them are better than none.
            if error.errno != errno.EINVAL or version == LEAST_ABI:
                raise
            version -= 1


def _sum(added: dict[int, int], version: int) -> int:
    return sum(bits for since, bits in added.items() if since <= version)


def _allow(ruleset: int, place: int, rights: int, path: str) -> None:
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _ON_FILES
    _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, place), 0, about=path)


def _on_proc(place: int) -> bool:
    """Whether descriptor `place` is of procfs.

    A rule holds for an inode, and procfs makes a new one whenever memory pressure made it forget the name. Then the
    rule would be lost in the middle of a run; a name that is held open is not forgotten.
    """
    answer = (ctypes.c_long * _STATFS_WORDS)()
    return ctypes.CDLL(None).fstatfs(place, answer) == 0 and answer[0] == _PROC_SUPER_MAGIC


def _no_new_privs() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    # The kernel compares whole registers with zero, so no argument may be a C int.
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, *(ctypes.c_ulong(value) for value in (1, 0, 0, 0))) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: no_new_privs: {os.strerror(code)}")


def _call(number: int, *arguments: int | bytes | None, about: str | None = None) -> int:
    """One system call; OSError with its name if it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    passed = (ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value) for value in arguments)
    answer: int = libc.syscall(ctypes.c_long(number), *passed)
    if answer < 0:
        names = {_CREATE_RULESET: "create_ruleset", _ADD_RULE: "add_rule", _RESTRICT_SELF: "restrict_self"}
        code = ctypes.get_errno()
        raise OSError(code, f"landlock_{names[number]}: {os.strerror(code)}", about)
    return answer
