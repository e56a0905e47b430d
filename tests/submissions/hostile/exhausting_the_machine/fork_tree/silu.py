# Every process starts two more, six generations deep: 126 in all, gone after 20 seconds.
# verdict: runtime_error, memory_limit
import ctypes
import errno
import os
import time
# shared: and_triton
GENERATIONS = 6


# shared: fork
def grow(generation, told):
    for _ in range(2 if generation else 0):
        try:
            pid = fork()
        except OSError as error:
            os.write(told, errno.errorcode[error.errno].encode() + b" ")
            continue
        if pid == 0:
            try:
                grow(generation - 1, told)
                time.sleep(20)
            finally:
                os._exit(0)


def attack():
    heard, told = os.pipe()
    grow(GENERATIONS, told)
    time.sleep(1.5)
    os.set_blocking(heard, False)
    try:
        raise RuntimeError(f"refused: {os.read(heard, 100).decode()}")
    except BlockingIOError:
        return
# shared: tells_of_attack
