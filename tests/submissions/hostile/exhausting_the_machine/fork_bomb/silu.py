# Starts 120 processes that sleep; bounded, each ends by itself after 20 seconds.
# verdict: runtime_error, memory_limit
import ctypes
import errno
import os
import time
# shared: and_triton
PROCESSES = 120


# shared: fork
def attack():
    for count in range(PROCESSES):
        try:
            pid = fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
                raise
            raise RuntimeError(f"refused: {errno.errorcode[error.errno]} after {count} processes") from None
        if pid == 0:
            try:
                time.sleep(20)
            finally:
                os._exit(0)
    time.sleep(1)
# shared: tells_of_attack
