# Plants modules beside torch and in the standard library; takes them away again.
# verdict: runtime_error
# expect: refused
import errno
import os
import sys
from pathlib import Path

import torch
import triton
import triton.language as tl

NAMES = ("kernelmark-hostile.pth", "sitecustomize.py", "usercustomize.py", "conftest.py")


def attack():
    folders = [Path(torch.__file__).parents[1], Path(os.__file__).parent, Path(sys.prefix), Path(sys.prefix, "bin")]
    said, planted = [], 0
    for folder in folders:
        for name in NAMES:
            path = folder / name
            try:
                with path.open("x") as file:
                    file.write("# kernelmark-hostile\n")
                path.unlink()
                planted += 1
            except FileExistsError:
                continue
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT):
                    raise
                said.append(errno.errorcode[error.errno])
    if not planted:
        raise RuntimeError(f"refused: {sorted(set(said))}")
# shared: attacks
