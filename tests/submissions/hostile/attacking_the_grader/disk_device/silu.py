# Makes the device node of the disk that holds /, and those of memory, in its own folder.
# verdict: runtime_error
# expect: refused
import errno
import os
import stat
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
def make(kind, device):
    os.mknod("kernelmark-hostile", kind | 0o600, device)
    os.unlink("kernelmark-hostile")


def attack():
    tries = [
        worked("disk", lambda: make(stat.S_IFBLK, os.stat("/").st_dev or os.makedev(8, 0))),
        worked("memory", lambda: make(stat.S_IFCHR, os.makedev(1, 1))),
        worked("null", lambda: make(stat.S_IFCHR, os.makedev(1, 3))),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
