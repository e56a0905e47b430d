"""Runs a command as a user without privileges who may read Python and this checkout, whatever lies above them.

    python -m tests.unprivileged COMMAND…        (as root)
    python -m tests.unprivileged --as NUMBER GROUP COMMAND…

In a mount namespace of its own, folders that are closed to others are covered by empty ones that hold only what is
needed. The user has a number and no account, so nothing is left to remove.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.home import ROOT

USER = 1_700_000_000


def needed() -> list[Path]:
    """What the user has to reach."""
    return [Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), ROOT]


def closed(path: Path) -> Path | None:
    """The uppermost folder above `path` that others cannot pass."""
    return next((folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o1), None)


def main(command: list[str]) -> None:
    """Becomes that user, or another who is in a group, and the command. Call it in a mount namespace of its own."""
    user, groups = USER, list[int]()
    if command[0] == "--as":
        user, groups, command = int(command[1]), [int(command[2])], command[3:]
    with tempfile.TemporaryDirectory() as shelf:
        open_up = [path for path in needed() if closed(path)]
        for number, path in enumerate(open_up):
            kept = Path(shelf) / str(number)
            kept.mkdir()
            _run("mount", "--bind", str(path), str(kept))
        for folder in {closed(path) for path in open_up}:
            _run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(folder))
        for number, path in enumerate(open_up):
            path.mkdir(parents=True, exist_ok=True)
            _run("mount", "--bind", str(Path(shelf) / str(number)), str(path))
            _run("umount", str(Path(shelf) / str(number)))
    home = tempfile.mkdtemp(prefix="kernelmark-test-user-")
    os.chown(home, user, user)
    Path(home).chmod(0o755)
    os.setgroups(groups)
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    os.environ.update(HOME=home, TMPDIR=home)
    os.execvp(command[0], command)


def _run(*words: str) -> None:
    subprocess.run(words, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
