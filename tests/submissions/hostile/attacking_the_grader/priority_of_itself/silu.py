# Takes the machine for itself: real-time scheduling, and memory that is never paged out.
# verdict: runtime_error
# expect: refused
import errno
import os
import resource
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
def attack():
    tries = [
        worked("SCHED_FIFO", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
        worked("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)),
        worked("NOFILE", lambda: resource.prlimit(0, resource.RLIMIT_NOFILE, (1 << 19, 1 << 19))),
        worked("NPROC", lambda: resource.prlimit(0, resource.RLIMIT_NPROC, (1 << 19, 1 << 19))),
        worked("FSIZE", lambda: resource.prlimit(0, resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
