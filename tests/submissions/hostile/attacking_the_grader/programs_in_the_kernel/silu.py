# Asks for a BPF map, a performance counter, an io_uring and faults in user space.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
BPF_MAP_CREATE, BPF_MAP_TYPE_ARRAY = 0, 2
PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK = 1, 0


def attack():
    array = (ctypes.c_uint32 * 32)(BPF_MAP_TYPE_ARRAY, 4, 4, 1)
    counter = (ctypes.c_uint32 * 32)(PERF_TYPE_SOFTWARE, 128, PERF_COUNT_SW_CPU_CLOCK)
    ring = (ctypes.c_uint32 * 64)()
    tries = [
        worked("bpf", lambda: syscall(321, 280, BPF_MAP_CREATE, array, 72)),
        worked("perf_event_open", lambda: syscall(298, 241, counter, 0, -1, -1, 0)),
        worked("io_uring_setup", lambda: syscall(425, 425, 1, ring)),
        worked("userfaultfd", lambda: syscall(323, 282, 1)),
        worked("fanotify_init", lambda: syscall(300, 262, 0, 0)),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
