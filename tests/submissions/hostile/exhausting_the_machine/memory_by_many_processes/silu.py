# Six processes of 512 MiB, each below its own limit, 3 GiB together.
# verdict: runtime_error, memory_limit, time_limit
import ctypes
import errno
import os
import time

import triton
import triton.language as tl

PROCESSES, STEPS, STEP = 6, 8, 64 << 20


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


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


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


try:
    attack()
except Exception as error:
    failed = error
else:
    failed = None


def silu(x, out):
    if failed is not None:
        raise failed
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
