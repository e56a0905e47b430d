# Sets the parent's limit on open files (to what it is).
# verdict: runtime_error
# expect: refused
import errno
import os
import resource
import sys
from pathlib import Path

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
def attack():
    pid = zygote()
    if worked("prlimit", lambda: resource.prlimit(
            pid, resource.RLIMIT_NOFILE, resource.prlimit(pid, resource.RLIMIT_NOFILE))):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
