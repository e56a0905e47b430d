# Reads the reference from disk, found from where torch and Python lie; needs no forbidden name.
# verdict: runtime_error
# expect: refused
import errno
import sys
from pathlib import Path

import torch
import triton
import triton.language as tl

FILES = ("reference/silu.py", "assignments/silu/assignment.py", "grader/course/catalogue.py", "tests/test_submissions.py",
         "course.toml", "grader/judging/answers/compare.py")


def attack():
    said = set()
    for root in (*Path(torch.__file__).parents, *Path(sys.prefix).parents, *Path(sys.executable).parents):
        for name in FILES:
            try:
                print(len((root / name).read_text()), "bytes of", root / name)
                return
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR):
                    raise
                said.add(errno.errorcode[error.errno])
    raise RuntimeError(f"refused: {sorted(said)}")
# shared: attacks
