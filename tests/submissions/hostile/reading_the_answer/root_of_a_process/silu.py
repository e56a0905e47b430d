# Leaves its view of the files by the links that /proc keeps to every process's root.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path

import torch
import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.ENOTDIR, errno.EINVAL)
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


def attack():
    root = Path(torch.__file__).parents[5]
    tries = []
    for pid in {"self", "thread-self", "1", str(os.getppid())} - {"0"}:
        for link in ("root", "cwd/../../../../../../../.."):
            base = Path(f"/proc/{pid}/{link}")
            for path in ("etc/shadow", f"{root}/reference/silu.py".lstrip("/"), "root"):
                tries.append(worked(f"{pid}/{link[:4]}", lambda path=base / path: os.close(os.open(path, os.O_RDONLY))))
    if any(tries):
        return
    raise RuntimeError(f"refused: {sorted(set(said))}")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
