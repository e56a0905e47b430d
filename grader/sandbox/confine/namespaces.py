"""Namespaces and file systems for one worker, made inside its fork server's, which bubblewrap has made.

A new pid namespace: the worker sees no process outside, and all its processes die with it.
New mount and ipc namespaces: the files it writes and the System V memory it makes vanish with it.
Sources: unshare(2), setns(2), pid_namespaces(7), mount(2), tmpfs(5), capset(2).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_CLONE_NEWNS = 0x00020000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWPID = 0x20000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REC, _MS_PRIVATE = 1 << 14, 1 << 18
_CAPABILITY_VERSION_3 = 0x20080522
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, call: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{call}: {os.strerror(error)}")


@contextmanager
def new_pid_namespace() -> Iterator[None]:
    """Open a new pid namespace for the block. A child that is forked inside becomes its first process; at most one
    child."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _checked(libc.unshare(_CLONE_NEWPID), "unshare(pid)")
        parent = os.getpid()
        try:
            yield
        finally:
            if os.getpid() == parent:
                _checked(libc.setns(own, _CLONE_NEWPID), "setns(pid)")
    finally:
        os.close(own)


def new_mounts(folder: str, *, megabytes: int, entries: int, uid: int | None) -> None:
    """Move this process to its own mount and ipc namespaces, with an empty file system in memory at `folder`.

    The file system holds at most `megabytes` MiB and `entries` files, belongs to `uid` (None: to this user), and none
    of its files can be mapped as a program. /proc shows only the user's own processes of the pid namespace, and
    /dev/shm cannot be written to.
    """
    _checked(libc.unshare(_CLONE_NEWNS | _CLONE_NEWIPC), "unshare(mount, ipc)")
    _checked(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount(private)")
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    options = f"size={megabytes}m,nr_inodes={entries},mode=700"
    if uid is not None:
        options += f",uid={uid},gid={uid}"
    _checked(libc.mount(b"tmpfs", folder.encode(), b"tmpfs", flags, options.encode()), f"mount({folder})")
    _checked(libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", flags | _MS_RDONLY, b"size=4k,nr_inodes=2"), "mount(shm)")
    _checked(libc.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, b"hidepid=2"), "mount(proc)")


def become(uid: int) -> None:
    """Make this process another user's, for good. Needs CAP_SETUID and CAP_SETGID."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_capabilities() -> None:
    """Drop every privilege of this process, for good if no program can add any: see
    `processes.gain_nothing_by_exec`."""
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    # Two blocks of effective, permitted and inheritable capabilities, all zero.
    none = (ctypes.c_uint32 * 6)()
    _checked(libc.capset(ctypes.byref(_Header(_CAPABILITY_VERSION_3, 0)), none), "capset")
