# Keeps memory in SysV segments, which outlive their maker: 24 of 16 MiB; takes them away again.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import time
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.ENOMEM, errno.ENOSPC)
# shared: worked
SEGMENTS, SIZE, IPC_RMID = 24, 16 << 20, 0


def attack():
    made = []
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    libc.shmdt.argtypes = (ctypes.c_void_p,)

    def fill():
        made.append(syscall(29, 194, 0, SIZE, 0o1600))
        where = libc.shmat(made[-1], None, 0)
        if where == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "shmat")
        ctypes.memset(where, 1, SIZE)
        libc.shmdt(where)

    try:
        if not all(worked("shmget", fill) for _ in range(SEGMENTS)):
            raise RuntimeError(f"refused: {', '.join(said)} after {len(made)}")
        time.sleep(1)
    finally:
        for segment in made:
            syscall(31, 195, segment, IPC_RMID, 0)
# shared: tells_of_attack
