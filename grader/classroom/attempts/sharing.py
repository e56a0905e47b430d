"""A folder of results that a group of TAs shares: its members read the folder, grade into it, and apply grades."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.results.hidden import STAFF

_FOLDER, _FILE = stat.S_ISGID | 0o070, 0o060


class SharingError(Exception):
    """A failure to give a folder to a group; one line."""


def share(out: Path, private: Path, group: str) -> None:
    """Give `out`, and everything in it that this user owns, to the Unix group. Its members may change all of it,
    including files that are added later; nobody else may read it. Raises SharingError and OSError."""
    # Late: systems other than Linux lack it, but import this file.
    import grp

    try:
        gid = grp.getgrnam(group).gr_gid
    except KeyError:
        raise SharingError(f"[records] group {group!r}: no such group on this machine; name one that `id -Gn` "
                           "shows") from None
    info = private.stat()
    if info.st_gid == gid and info.st_mode & _FOLDER == _FOLDER:
        return
    me = os.geteuid()
    if info.st_uid != me:
        raise SharingError(f"{private}: is {owner(private)}'s; have them grade once with [records] group = {group!r}")
    (out / STAFF).mkdir(mode=0o700, exist_ok=True)
    try:
        # The private folder comes last: its group and mode show that all others are done.
        for at, _, files in os.walk(out, topdown=False):
            for path, mode in (*((Path(at, name), _FILE) for name in files), (Path(at), _FOLDER)):
                if path.lstat().st_uid == me and not path.is_symlink() and path != private:
                    _give(path, gid, mode)
        _give(private, gid, _FOLDER)
    except PermissionError:
        raise SharingError(f"[records] group {group!r}: you are not in it, and cannot give it anything; name one that "
                           "`id -Gn` shows") from None


def _give(path: Path, gid: int, mode: int) -> None:
    os.chown(path, -1, gid)
    # The system may clear setgid when the group changes, so set the mode afterwards.
    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o007 | mode)


def shared(private: Path) -> bool:
    """Return whether a folder of results was given to a group."""
    return private.stat().st_mode & _FOLDER == _FOLDER


def owner(path: Path) -> str:
    """Return the name of a path's owner, or the user id if it has no name."""
    # Late, see share.
    import pwd

    uid = path.stat().st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
