# Reads the command lines of other processes: which course, which folder, which seed.
# verdict: runtime_error
# expect: refused
import os
from pathlib import Path

import triton
import triton.language as tl

WORDS = (b"--seed", b"kernelmark", b"pytest", b"grader")


def attack():
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (os.getpid(), os.getppid())]
    except OSError as error:
        raise RuntimeError(f"refused: {error.strerror}") from None
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        # The grader's own boot text, which the sandbox repeats, tells nothing.
        if any(word in text for word in WORDS) and b"grader.engine.forkserver.server" not in text:
            print(text[:500])
            return
    raise RuntimeError(f"refused: nothing told by {len(pids)} processes")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
