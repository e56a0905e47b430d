# Leaves a program behind that gives whoever runs it the rights of its maker.
# verdict: runtime_error
# expect: refused
import errno
import os
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
def by_chmod():
    with open("kernelmark-hostile", "w") as file:
        os.fchmod(file.fileno(), 0o6755)


def by_umask():
    os.umask(0)
    os.close(os.open("kernelmark-hostile-2", os.O_CREAT | os.O_WRONLY, 0o6755))
    os.chmod("kernelmark-hostile-2", 0o6755)


def attack():
    if any([worked("fchmod", by_chmod), worked("chmod", by_umask)]):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
