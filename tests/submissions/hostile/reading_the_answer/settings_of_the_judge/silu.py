# Reads the environment and the descriptors of every process it sees, for seeds and paths.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
def look(name):
    if name.endswith("/fd"):
        os.listdir(name)
    else:
        Path(name).read_bytes()


def attack():
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError as error:
        raise RuntimeError(f"refused: {errno.errorcode[error.errno]}") from None
    tries = [worked(f"{pid}/{name}", lambda pid=pid, name=name: look(f"/proc/{pid}/{name}"))
             for pid in pids for name in ("environ", "fd", "maps")]
    if any(tries):
        return
    raise RuntimeError(f"refused: {len(pids)} processes in sight, {said[:6]}")
# shared: attacks
