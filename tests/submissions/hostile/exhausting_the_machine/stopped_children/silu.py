# Leaves processes behind that are stopped, so that no gentle signal ends them.
# verdict: runtime_error
# expect: stopped
import ctypes
import errno
import os
import signal
import time

# shared: triton
# shared: fork
def attack():
    for _ in range(5):
        try:
            pid = fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
                raise
            break
        if pid == 0:
            try:
                signal.alarm(20)
                os.kill(os.getpid(), signal.SIGSTOP)
                time.sleep(20)
            finally:
                os._exit(0)
    time.sleep(0.2)
    raise RuntimeError("left stopped processes")
# shared: tells_of_attack
