# Reads the reference from disk, found from where torch and Python lie; needs no forbidden name.
# verdict: runtime_error
# expect: refused
import errno
import sys
from pathlib import Path

import torch
import triton
import triton.language as tl

FILES = ("reference/silu.py", "assignments/silu/assignment.py", "grader/model/catalogue.py", "tests/test_submissions.py",
         "course.toml", "grader/judge/compare.py")


def attack():
    said = set()
    for root in (*Path(torch.__file__).parents, *Path(sys.prefix).parents, *Path(sys.executable).parents):
        for name in FILES:
            try:
                print(len((root / name).read_text()), "bytes of", root / name)
                return
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR):
                    raise
                said.add(errno.errorcode[error.errno])
    raise RuntimeError(f"refused: {sorted(said)}")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
