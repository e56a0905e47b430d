"""bubblewrap around a fork server: namespaces of its own, and a file system that holds only what its programs need.

https://github.com/containers/bubblewrap. A trial run with the same options shows whether it works here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from grader.sandbox.confine.sandbox import DEVICES, PRIVATE_FOLDER

TRY_SECONDS = 20
HOST = "sandbox"
"""The host name inside the sandbox."""

# Root needs all of these: to make each worker's namespaces, to give a worker another user, and to end it. Any other
# user gets the first one only, which holds inside the user namespace alone.
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_READ_SEARCH")


def command(readable: Sequence[str], hidden: Sequence[str] = ()) -> list[str]:
    """Return the prefix of a fork server's command line. The `readable` paths are mounted read-only at their own
    places. The `hidden` folders and files inside them are mounted empty."""
    root = os.geteuid() == 0
    words = [shutil.which("bwrap") or "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
             "--hostname", HOST, "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if not root:
        words += ["--unshare-user"]
    for capability in _CAPABILITIES if root else _CAPABILITIES[:1]:
        words += ["--cap-add", capability]
    # bubblewrap would make these parent folders itself, but so that another user cannot pass through them.
    above = {parent for path in readable for parent in Path(path).parents}
    for folder in sorted(above - {Path("/")}):
        words += ["--perms", "0755", "--dir", str(folder)]
    # Sorted, so that a readable path inside a hidden folder is mounted after that folder.
    empty = {path for path in hidden if Path(path).is_dir()}
    for path in sorted({*readable, *hidden}):
        words += ["--tmpfs", path] if path in empty else ["--ro-bind", "/dev/null" if path in hidden else path, path]
    for path in sorted(empty):
        words += ["--remount-ro", path]
    # Not --dev: its terminals need a second, nested user namespace, from which an unprivileged fork server could not
    # return to its own pid namespace after each worker.
    words += ["--proc", "/proc", "--tmpfs", "/dev", "--dir", "/dev/shm"]
    if root:
        # Root owns the files there in any namespace, and /proc/sys/kernel/core_pattern holds for the whole machine.
        words += ["--ro-bind", "/proc/sys", "/proc/sys"]
    for device in DEVICES:
        words += ["--dev-bind", device, device]
    return [*words, "--dir", PRIVATE_FOLDER, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"]


@cache
def trouble(readable: tuple[str, ...], hidden: tuple[str, ...] = ()) -> str:
    """Return the reason why bubblewrap cannot be used here; "" if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (apt install bubblewrap)"
    try:
        trial = subprocess.run(
            [*command(readable, hidden), os.path.normpath(sys.executable), "-I", "-S", "-c", "pass"],
            capture_output=True, text=True, errors="replace", timeout=TRY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run: {error}"
    if trial.returncode == 0:
        return ""
    lines = trial.stderr.strip().splitlines()
    return f"bubblewrap does not run: {lines[-1][:200] if lines else f'status {trial.returncode}'}"
