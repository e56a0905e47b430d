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
# shared: worked
def read(link, path, number):
    name = f"kernelmark-hostile-{number}"
    link(path, name)
    os.close(os.open(name, os.O_RDONLY))


def attack():
    root = Path(torch.__file__).parents[5]
    paths = (root / "reference/silu.py", root / "grader/course/catalogue.py", Path("/etc/shadow"), Path("/root"))
    tries = []
    for number, path in enumerate(paths):
        tries.append(worked("link", lambda path=path, n=number: read(os.link, path, f"{n}-hard")))
        tries.append(worked("symlink", lambda path=path, n=number: read(os.symlink, path, f"{n}-soft")))
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
