"""The lock of a folder of results, into which one process writes at a time, and the group of TAs that shares it."""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.errors import UserError
from grader.results.hidden import STAFF


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder/lock` for the block. Raises OSError, and UserError at once if another process holds it.

    If the folder is shared with a group, the group may use files written in the block, and nobody else may.
    """
    # Late: systems other than Linux lack it, but import this file.
    import fcntl

    # Truncate the file only after locking it. Child processes do not inherit the descriptor.
    umask = os.umask(0o077)
    os.umask(umask & ~0o070 | 0o007 if shared(folder) else umask)
    with contextlib.ExitStack() as stack:
        stack.callback(os.umask, umask)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o660)
        stack.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 400, 0).decode("utf-8", "replace").strip()
            raise UserError(f"{folder.parent}: {holder or 'another process'} is at work there; wait for it, or "
                              "choose another --out") from None
        since = datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}, since {since},\n".encode(), 0)
        yield


# Permissions of the group; a new file in such a folder gets the folder's group.
_FOLDER_MODE, _FILE_MODE = stat.S_ISGID | 0o070, 0o060


def share(out: Path, private: Path, group: str) -> None:
    """Give `out`, and everything in it that this user owns, to the Unix group. Its members may change all of it,
    including files that are added later; nobody else may read it. Raises UserError and OSError."""
    # Late: systems other than Linux lack it, but import this file.
    import grp

    try:
        gid = grp.getgrnam(group).gr_gid
    except KeyError:
        raise UserError(f"[records] group {group!r}: no such group on this machine; name one that `id -Gn` "
                           "shows") from None
    state = private.stat()
    if state.st_gid == gid and state.st_mode & _FOLDER_MODE == _FOLDER_MODE:
        return
    user = os.geteuid()
    if state.st_uid != user:
        raise UserError(f"{private}: is {owner(private)}'s; have them grade once with [records] group = {group!r}")
    (out / STAFF).mkdir(mode=0o700, exist_ok=True)
    try:
        # The private folder comes last: its group and mode show that all others are done.
        for folder, _, files in os.walk(out, topdown=False):
            for path, mode in (*((Path(folder, name), _FILE_MODE) for name in files), (Path(folder), _FOLDER_MODE)):
                if path.lstat().st_uid == user and not path.is_symlink() and path != private:
                    _give(path, gid, mode)
        _give(private, gid, _FOLDER_MODE)
    except PermissionError:
        raise UserError(f"[records] group {group!r}: you are not in it, and cannot give it anything; name one that "
                           "`id -Gn` shows") from None


def _give(path: Path, gid: int, mode: int) -> None:
    os.chown(path, -1, gid)
    # The system may clear setgid when the group changes, so set the mode afterwards.
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o007 | mode)


def shared(private: Path) -> bool:
    """Return whether a folder of results was given to a group."""
    return private.stat().st_mode & _FOLDER_MODE == _FOLDER_MODE


def owner(path: Path) -> str:
    """Return the name of a path's owner, or the user id if it has no name."""
    # Late, see share.
    import pwd

    uid = path.stat().st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
