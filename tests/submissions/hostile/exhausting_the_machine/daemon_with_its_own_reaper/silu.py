# A process that orphans fall to, that ignores the death of its parent and of its children; 20 seconds.
# verdict: runtime_error
# expect: daemon
import ctypes
import errno
import os
import signal
import time
# shared: and_triton
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NAME = 1, 36, 15


# shared: fork
def attack():
    libc = ctypes.CDLL(None)
    try:
        pid = fork()
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
            raise
        raise RuntimeError(f"no daemon: {errno.errorcode[error.errno]}") from None
    if pid == 0:
        try:
            os.setsid()
            libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            # A name with a bracket and blanks, for whoever reads /proc/PID/stat carelessly.
            libc.prctl(PR_SET_NAME, b"a) R 1 1 1 (b", 0, 0, 0)
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
            for _ in range(4):
                if fork() == 0:
                    os.setsid()
                    if fork() == 0:
                        time.sleep(20)
                    os._exit(0)
            time.sleep(20)
        finally:
            os._exit(0)
    time.sleep(0.3)
    raise RuntimeError("left a daemon")
# shared: tells_of_attack
