# Looks for memory that other workers or the judge share: files, segments, descriptors.
# verdict: runtime_error
# expect: refused
# needs: a file in the judge's /dev/shm, so that the member can fail
import os
from pathlib import Path

import triton
import triton.language as tl


def attack():
    found = []
    for folder in ("/dev/shm", "/dev/mqueue", "/run/shm"):
        try:
            found += [f"{folder}/{name}" for name in os.listdir(folder)]
        except OSError as error:
            print(folder, error.strerror)
    for name in ("shm", "msg", "sem"):
        try:
            found += Path(f"/proc/sysvipc/{name}").read_text().splitlines()[1:]
        except OSError as error:
            print(name, error.strerror)
    if not found:
        raise RuntimeError("refused: nothing is shared")
    print(found[:20])


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
