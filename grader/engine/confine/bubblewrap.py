"""bubblewrap around a zygote: namespaces of its own, and a file system that holds only what its programs need.

https://github.com/containers/bubblewrap. Whether it works here is found by running it with the very options.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from grader.engine.confine.sandbox import DEVICES, PRIVATE_FOLDER

TRY_SECONDS = 20
HOST = "sandbox"
"""What the machine is called from inside."""

# As root: to make each worker's namespaces, to give it another user, and to end it. As another user the first alone,
# within a user namespace, where it reaches no further than that.
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_READ_SEARCH")


def command(readable: Sequence[str]) -> list[str]:
    """What to put before a zygote's command line. `readable` paths are seen where they are, and cannot be written."""
    root = os.geteuid() == 0
    words = [shutil.which("bwrap") or "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
             "--hostname", HOST, "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if not root:
        words += ["--unshare-user"]
    for capability in _CAPABILITIES if root else _CAPABILITIES[:1]:
        words += ["--cap-add", capability]
    # bubblewrap itself would make the folders above a path such that another user cannot pass.
    above = {parent for path in readable for parent in Path(path).parents}
    for folder in sorted(above - {Path("/")}):
        words += ["--perms", "0755", "--dir", str(folder)]
    for path in sorted(set(readable)):
        words += ["--ro-bind", path, path]
    # Not --dev: for its terminals bubblewrap would nest a second user namespace, in which a zygote without privileges
    # could not go back to its own pid namespace after each worker.
    words += ["--proc", "/proc", "--tmpfs", "/dev", "--dir", "/dev/shm"]
    if root:
        # Files there belong to root, whatever the namespace: writing /proc/sys/kernel/core_pattern is the machine's.
        words += ["--ro-bind", "/proc/sys", "/proc/sys"]
    for device in DEVICES:
        words += ["--dev-bind", device, device]
    return [*words, "--dir", PRIVATE_FOLDER, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"]


@cache
def trouble(readable: tuple[str, ...]) -> str:
    """Why bubblewrap cannot be used here; "" if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (apt install bubblewrap)"
    try:
        tried = subprocess.run(
            [*command(readable), sys.executable, "-I", "-S", "-c", "pass"],
            capture_output=True, text=True, errors="replace", timeout=TRY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run: {error}"
    if tried.returncode == 0:
        return ""
    said = tried.stderr.strip().splitlines()
    return f"bubblewrap does not run: {said[-1][:200] if said else f'status {tried.returncode}'}"
