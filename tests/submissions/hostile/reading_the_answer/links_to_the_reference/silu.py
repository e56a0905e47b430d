# Links files of the grader and of root into its own folder, and reads them there.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path

import torch
import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EXDEV, errno.EROFS)
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


def read(link, path, number):
    name = f"kernelmark-hostile-{number}"
    link(path, name)
    os.close(os.open(name, os.O_RDONLY))


def attack():
    root = Path(torch.__file__).parents[5]
    paths = (root / "reference/silu.py", root / "grader/model/catalogue.py", Path("/etc/shadow"), Path("/root"))
    tries = []
    for number, path in enumerate(paths):
        tries.append(worked("link", lambda path=path, n=number: read(os.link, path, f"{n}-hard")))
        tries.append(worked("symlink", lambda path=path, n=number: read(os.symlink, path, f"{n}-soft")))
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
