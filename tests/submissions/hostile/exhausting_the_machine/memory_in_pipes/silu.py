# Keeps 2 GiB in pipes that nobody reads, 24 processes with 100 pipes each.
# verdict: runtime_error, memory_limit
import ctypes
import errno
import fcntl
import os
import time
# shared: and_triton
PROCESSES, EACH = 24, 100


# shared: fork
def stuff():
    """Fills buffers of the kernel that no process maps. Returns the bytes in them and what stopped it."""
    kept, size, why, block = [], 0, "nothing", b"x" * 65536
    try:
        for _ in range(EACH):
            kept.append(os.pipe())
            fcntl.fcntl(kept[-1][1], fcntl.F_SETPIPE_SZ, 1 << 20)
            os.set_blocking(kept[-1][1], False)
            try:
                while True:
                    size += os.write(kept[-1][1], block)
            except BlockingIOError:
                continue
    except OSError as error:
        why = errno.errorcode[error.errno]
    return size, why, kept


def attack():
    heard, told = os.pipe()
    for _ in range(PROCESSES):
        try:
            pid = fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM, errno.EPERM):
                raise
            raise RuntimeError(f"refused: fork {errno.errorcode[error.errno]}") from None
        if pid == 0:
            try:
                size, why, kept = stuff()
                os.write(told, f"{size} {why}\n".encode())
                time.sleep(10)
            finally:
                os._exit(0)
    os.close(told)
    answers = ""
    while answers.count("\n") < PROCESSES and (answer := os.read(heard, 4096)):
        answers += answer.decode()
    sizes = [int(line.split()[0]) for line in answers.splitlines()]
    if sum(sizes) < 2 << 30:
        raise RuntimeError(f"refused: {sum(sizes) >> 20} MiB held, stopped by {set(answers.split()[1::2])}")
    time.sleep(1)
# shared: tells_of_attack
