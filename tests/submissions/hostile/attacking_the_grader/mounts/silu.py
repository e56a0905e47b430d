# Mounts a tmpfs, a /proc and its own folder inside that, by the old calls and the new; takes them away again.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
MS_BIND, MNT_DETACH, OPEN_TREE_CLONE, AT_FDCWD = 4096, 2, 1, -100


def mount(kind, source, flags):
    os.makedirs("kernelmark-hostile", exist_ok=True)
    syscall(165, 40, source, b"kernelmark-hostile", kind, flags, 0)
    syscall(166, 39, b"kernelmark-hostile", MNT_DETACH)


def attack():
    tries = [
        worked("tmpfs", lambda: mount(b"tmpfs", b"none", 0)),
        worked("proc", lambda: mount(b"proc", b"none", 0)),
        worked("bind", lambda: mount(b"", b".", MS_BIND)),
        worked("fsopen", lambda: syscall(430, 430, b"tmpfs", 0)),
        worked("open_tree", lambda: syscall(428, 428, AT_FDCWD, b".", OPEN_TREE_CLONE)),
        worked("umount", lambda: syscall(166, 39, b"/kernelmark-hostile", 0)),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
