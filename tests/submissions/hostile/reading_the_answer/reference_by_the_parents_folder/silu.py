# Reads the reference by the parent's working directory, root and maps.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EIO, errno.EINVAL)
# shared: worked
NAMES = ("cwd", "root", "exe", "maps", "environ", "mem", "fd", "map_files", "auxv", "stack", "syscall")


def look(path):
    if path.is_dir():
        print(path, os.listdir(path)[:5])
    else:
        with path.open("rb") as file:
            file.read(0 if path.name == "mem" else 1)


def attack():
    tries = [worked(f"{pid}/{name}", lambda pid=pid, name=name: look(Path(f"/proc/{pid}/{name}")))
             for pid in {os.getppid(), 1} - {0, os.getpid()} for name in NAMES]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said) or 'no other process is in sight'}")
# shared: attacks
