# Moves itself into the control group above, which nothing limits.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EROFS)
# shared: worked
def groups():
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError as error:
        said.append(f"cgroup {errno.errorcode[error.errno]}")
        lines = ["1:memory:/", "0::/"]
    for line in lines:
        _, kinds, _ = line.split(":", 2)
        yield Path("/sys/fs/cgroup", kinds.removeprefix("name=") or "unified", "cgroup.procs")
    yield Path("/sys/fs/cgroup/cgroup.procs")


def join(path):
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, b"0")


def attack():
    if any([worked(path.parent.name, lambda path=path: join(path)) for path in groups()]):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
