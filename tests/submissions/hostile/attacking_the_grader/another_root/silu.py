# Leaves by chroot and back by a folder kept open; and pivot_root.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
def chroot():
    os.makedirs("jail", exist_ok=True)
    kept = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    os.chroot("jail")
    os.fchdir(kept)
    os.chroot(".")


def pivot_root():
    try:
        syscall(155, 41, b".", b".")
    except OSError as error:
        # Rights are looked at before anything else.
        if error.errno not in (errno.EINVAL, errno.EBUSY):
            raise


def attack():
    tries = [worked("chroot", chroot), worked("pivot_root", pivot_root)]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
