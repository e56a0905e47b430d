# Makes a file in every folder above its own, in the course's and in those where results are kept; takes it away.
# verdict: runtime_error
# expect: refused
import errno
from pathlib import Path

import torch
# shared: triton
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
# shared: attacks
