# Adds a comment to the grader's own code, and to the oracle, and takes it away again.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path

import torch
import triton
import triton.language as tl

MARK = b"# kernelmark-hostile\n"


def attack():
    root = Path(torch.__file__).parents[5]
    said, written = [], 0
    patterns = ("grader/*.py", "grader/*/*.py", "reference/*.py", "assignments/*/*.py", "tests/*.py", "course.toml")
    for pattern in patterns:
        for path in [*root.glob(pattern), root / pattern.replace("*", "silu")]:
            try:
                with path.open("ab", buffering=0) as file:
                    size = file.tell()
                    file.write(MARK)
                    written += 1
                    if os.fstat(file.fileno()).st_size == size + len(MARK):
                        file.truncate(size)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR):
                    raise
                said.append(errno.errorcode[error.errno])
    if not written:
        raise RuntimeError(f"refused: {sorted(set(said))}")
# shared: attacks
