# Makes a file in every folder above its own, in the course's and in those where results are kept; takes it away.
# verdict: runtime_error
# expect: refused
import errno
from pathlib import Path

import torch
import triton
import triton.language as tl


def attack():
    root = Path(torch.__file__).parents[5]
    above = list(Path.cwd().parents)
    folders = {*above[1:], root, root / "results", root / "results/alice", root.parent, Path.home().parent,
               Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path("/srv"), Path("/run"), Path("/etc")}
    folders -= {Path.cwd(), above[0]}
    said, written = [], []
    for folder in sorted(folders):
        path = folder / "kernelmark-hostile"
        try:
            path.touch()
            written.append(str(folder))
            path.unlink()
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR):
                raise
            said.append(errno.errorcode[error.errno])
    if not written:
        raise RuntimeError(f"refused: {sorted(set(said))}")
    print("written to", written)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
