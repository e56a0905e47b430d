# Writes the settings that /proc keeps of the parent and of itself: who is killed first.
# verdict: runtime_error
# expect: refused
import errno
import os
import sys
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EROFS, errno.EINVAL)
# shared: worked
# shared: zygote
def rewrite(name):
    descriptor = os.open(name, os.O_RDWR)
    text = os.read(descriptor, 4096)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text)


def attack():
    pid = zygote()
    names = ("oom_score_adj", "autogroup", "comm", "coredump_filter", "timerslack_ns", "loginuid", "setgroups")
    if any([worked(name, lambda name=name: rewrite(f"/proc/{pid}/{name}")) for name in names]):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
