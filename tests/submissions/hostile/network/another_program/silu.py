# Runs a program, which Python's own hooks do not look into.
# verdict: runtime_error
# expect: refused
import errno
import subprocess
import sys

import triton
import triton.language as tl


def attack():
    said = []
    for command in ((sys.executable, "-I", "-c", "pass"), ("/bin/true",), ("/bin/sh", "-c", ":")):
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=2, text=True)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EAGAIN, errno.ENOMEM):
                raise
            said.append(errno.errorcode[error.errno])
            continue
        if done.returncode == 0:
            return
        said.append(str(done.returncode))
    raise RuntimeError(f"refused: {', '.join(said)}")


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
