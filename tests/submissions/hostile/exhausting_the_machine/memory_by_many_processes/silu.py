# Six processes of 512 MiB, each below its own limit, 3 GiB together.
# verdict: runtime_error, memory_limit, time_limit
import ctypes
import errno
import os
import time
# shared: and_triton
PROCESSES, STEPS, STEP = 6, 8, 64 << 20


# shared: fork
def child(told):
    kept = []
    try:
        for _ in range(STEPS):
            kept.append(b"x" * STEP)
        os.write(told, b"y")
        time.sleep(10)
    except MemoryError:
        os.write(told, b"n")


def attack():
    heard, told = os.pipe()
    for count in range(PROCESSES):
        try:
            pid = fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
                raise
            raise RuntimeError(f"refused: fork {errno.errorcode[error.errno]} after {count}") from None
        if pid == 0:
            try:
                child(told)
            finally:
                os._exit(0)
    os.close(told)
    answers = b""
    while len(answers) < PROCESSES and (answer := os.read(heard, PROCESSES)):
        answers += answer
    if answers != b"y" * PROCESSES:
        raise RuntimeError(f"refused: {answers.count(b'y')} of {PROCESSES} processes got their memory")
    time.sleep(1)
# shared: tells_of_attack
