# Keeps 1.75 GiB of its own, which it may, and 2.75 GiB in the buffers of socket pairs that nobody reads.
# verdict: runtime_error, memory_limit, time_limit
import ctypes
import errno
import os
import socket
import time

import triton
import triton.language as tl

OWN, TARGET, PROCESSES, PAIRS = 1792 << 20, 2816 << 20, 40, 110


def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork")
    return pid


def stuff(told, limit):
    kept, size, why, block = [], 0, "nothing", b"x" * 32768
    try:
        while len(kept) < 2 * PAIRS and size < limit:
            kept.extend(socket.socketpair())
            for end in kept[-2:]:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
                end.setblocking(False)
                try:
                    while True:
                        size += end.send(block)
                except BlockingIOError:
                    continue
    except OSError as error:
        why = errno.errorcode[error.errno]
    os.write(told, f"{size} {why}".encode())
    time.sleep(10)


def attack():
    kept = b"x" * OWN
    heard, told = os.pipe()
    total, why = 0, ""
    for _ in range(PROCESSES):
        if fork() == 0:
            try:
                stuff(told, TARGET - total)
            finally:
                os._exit(0)
        size, why = os.read(heard, 100).decode().split()
        total += int(size)
        if total >= TARGET or why != "nothing":
            break
    if total < TARGET:
        raise RuntimeError(f"refused: {total >> 20} MiB, then {why}, with {len(kept) >> 20} MiB of its own")
    time.sleep(0.5)


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
