# Leaves folders behind that their owner may not open, some with files inside.
# verdict: runtime_error
# expect: closed folders
import errno
import os
from pathlib import Path

import triton
import triton.language as tl

FOLDERS = 20


def attack():
    closed = 0
    for number in range(FOLDERS):
        folder = Path(f"kernelmark-hostile-{number}")
        folder.mkdir()
        (folder / "file").touch()
        Path(f"empty-{number}").mkdir(mode=0)
        try:
            os.chmod(folder, 0)
            closed += 1
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES):
                raise
    raise RuntimeError(f"left {closed} closed folders and {FOLDERS} that were made closed")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


try:
    attack()
except Exception as error:
    failed = error
else:
    failed = None


def silu(x, out):
    if failed is not None:
        raise failed
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
