# Opens the reference by C, by torch and by NumPy: hooks of Python's see none of them.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
from pathlib import Path

import numpy
import torch
import triton
import triton.language as tl

REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
def by_c(path):
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.open(os.fsencode(path), os.O_RDONLY)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "open")
    os.close(descriptor)


def by_torch(path):
    try:
        torch.from_file(os.fspath(path), size=16, dtype=torch.uint8)
    except RuntimeError as error:
        if not any(words in str(error) for words in ("Permission denied", "No such file", "not permitted")):
            raise
        raise OSError(errno.EACCES, str(error)) from None


def attack():
    root = Path(torch.__file__).parents[5]
    tries = []
    for path in (root / "reference/silu.py", root / "assignments/silu/assignment.py", Path("/etc/shadow")):
        tries.append(worked("libc.open", lambda path=path: by_c(path)))
        tries.append(worked("torch.from_file", lambda path=path: by_torch(path)))
        tries.append(worked("numpy.fromfile", lambda path=path: numpy.fromfile(path, dtype=numpy.uint8, count=16)))
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: tells_of_attack
