# Opens files that are nobody's but root's; it reads none of what they hold.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path

import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
said = []


def worked(what, action):
    """Whether an attempt went through. A refusal is noted; any other failure is a fault of this file."""
    try:
        action()
    except OSError as error:
        if error.errno not in REFUSALS:
            raise
        said.append(f"{what} {errno.errorcode[error.errno]}")
        return False
    return True


NAMES = ("/etc/shadow", "/etc/gshadow", "/root", "/root/.ssh", "/root/.bash_history", "/etc/ssh/ssh_host_rsa_key",
         "/var/log", "/var/spool/cron", "/etc/sudoers", "/home")


def attack():
    homes = [str(Path("~").expanduser()), os.path.expanduser("~root/.ssh")]
    tries = [worked(name, lambda name=name: os.listdir(name) if os.path.isdir(name) else Path(name).open("rb").close())
             for name in (*NAMES, *homes[1:])]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
