# Leaves a SysV message queue and a set of semaphores behind; takes them away again.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
IPC_RMID = 0


def attack():
    made = []
    queue = worked("msgget", lambda: made.append((71, 187, syscall(68, 186, 0, 0o1600))))
    semaphores = worked("semget", lambda: made.append((66, 191, syscall(64, 190, 0, 4, 0o1600))))
    for x86_64, aarch64, number in made:
        arguments = (IPC_RMID, 0) if x86_64 == 71 else (0, IPC_RMID, 0)
        syscall(x86_64, aarch64, number, *arguments)
    if not (queue or semaphores):
        raise RuntimeError(f"refused: {', '.join(said)}")
# shared: tells_of_attack
