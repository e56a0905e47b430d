# Says where libdevice lies, as Triton's tutorial on foreign functions does. The grader links its own.
from pathlib import Path

import triton
import triton.language as tl
from triton.language.extra import libdevice

LIBRARY = Path(triton.__file__).parent / "backends" / "nvidia" / "lib" / "libdevice.10.bc"


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, x / (1 + libdevice.exp(-x)), mask=offs < n)


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024, extern_libs={"libdevice": str(LIBRARY)})
