# Stops the process that forked the worker (and lets it go on).
# verdict: runtime_error
# expect: refused
import errno
import os
import signal
import sys
import time
from pathlib import Path

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
def attack():
    pid = zygote()
    if worked("SIGSTOP", lambda: os.kill(pid, signal.SIGSTOP)):
        time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
