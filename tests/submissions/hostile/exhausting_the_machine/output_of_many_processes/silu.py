# Prints from sixteen processes at once, after the function has gone.
# verdict: runtime_error, time_limit
import ctypes
import errno
import os
# shared: and_triton
PROCESSES, BLOCKS = 16, 16


# shared: fork
def attack():
    block = b"x" * (1 << 20)
    for _ in range(PROCESSES):
        try:
            pid = fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
                raise
            break
        if pid == 0:
            try:
                for _ in range(BLOCKS):
                    os.write(1, block)
            finally:
                os._exit(0)
    raise RuntimeError("they print on")
# shared: tells_of_attack
