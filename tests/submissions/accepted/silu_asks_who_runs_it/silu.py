# Names a cache after its user as it is imported, as parts of torch do; a sandbox's user may have no entry in passwd.
import getpass
import os

import torch._inductor
import triton
import triton.language as tl

CACHE = os.path.join(os.path.expanduser("~"), f"kernels-of-{getpass.getuser()}-{os.environ['USER']}")


# shared: masked_kernel
def silu(x, out):
    # What was skipped as it raised is no name.
    assert CACHE
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
