# Sets the clock to its time and the host to its name, reads the kernel's log, ends a swap.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import time
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
CLOCK_REALTIME, SYSLOG_READ_ALL, ADDR_NO_RANDOMIZE = 0, 3, 0x40000


class Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def set_clock():
    now = time.time_ns()
    syscall(227, 112, CLOCK_REALTIME, ctypes.byref(Timespec(now // 10**9, now % 10**9)))


def attack():
    name = os.uname().nodename.encode()
    text = ctypes.create_string_buffer(64)
    tries = [
        worked("clock_settime", set_clock),
        worked("sethostname", lambda: syscall(170, 161, name, len(name))),
        worked("syslog", lambda: syscall(103, 116, SYSLOG_READ_ALL, text, 64)),
        worked("swapoff", lambda: syscall(168, 225, b"/kernelmark-hostile-no-such-file")),
        worked("delete_module", lambda: syscall(176, 106, b"kernelmark_hostile", 0)),
        worked("personality", lambda: syscall(135, 92, ADDR_NO_RANDOMIZE)),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
