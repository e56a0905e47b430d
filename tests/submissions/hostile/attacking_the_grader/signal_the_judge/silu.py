# Signals each ancestor, as far as it sees them, and their groups; the signal is one that is ignored by default.
# verdict: runtime_error
# expect: refused
import errno
import os
import signal
import sys
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def attack():
    pid = zygote()
    reached = False
    while pid > 0:
        reached |= worked(f"kill {pid}", lambda pid=pid: os.kill(pid, signal.SIGURG))
        if pid == 1:
            # The group of the first process would be everybody.
            break
        reached |= worked(f"killpg {pid}", lambda pid=pid: os.killpg(pid, signal.SIGURG))
        try:
            pid = parent_of(pid)
        except OSError as error:
            said.append(f"stat {errno.errorcode[error.errno]}")
            break
    if not reached:
        raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
