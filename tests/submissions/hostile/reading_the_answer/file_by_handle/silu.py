# Opens files by handle, past every folder that would stop it: the root of the disk.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EOPNOTSUPP, errno.ESTALE)
# shared: worked
AT_FDCWD = -100


class Handle(ctypes.Structure):
    _fields_ = (("size", ctypes.c_uint), ("kind", ctypes.c_int), ("data", ctypes.c_ubyte * 128))


def open_handle(name):
    handle, mount = Handle(128), ctypes.c_int()
    syscall(303, 264, AT_FDCWD, name, ctypes.byref(handle), ctypes.byref(mount), 0)
    folder = os.open(name, os.O_RDONLY)
    os.close(syscall(304, 265, folder, ctypes.byref(handle), os.O_RDONLY))


def open_root():
    folder = os.open(".", os.O_RDONLY)
    handle = Handle(8, 1, (ctypes.c_ubyte * 128)(2))
    os.close(syscall(304, 265, folder, ctypes.byref(handle), os.O_RDONLY))


def attack():
    tries = [worked(name.decode(), lambda name=name: open_handle(name)) for name in (b"/", b"/etc", b".")]
    tries += [worked("inode 2", open_root)]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
