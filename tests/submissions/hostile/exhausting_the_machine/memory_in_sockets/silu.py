# Keeps 1.75 GiB of its own, which it may, and 2.75 GiB in the buffers of socket pairs that nobody reads.
# verdict: runtime_error, memory_limit, time_limit
import ctypes
import errno
import os
import socket
import time
# shared: and_triton
OWN, TARGET, PROCESSES, PAIRS = 1792 << 20, 2816 << 20, 40, 110


# shared: fork
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
# shared: tells_of_attack
