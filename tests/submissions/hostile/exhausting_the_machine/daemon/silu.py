# A daemon in a session of its own, orphaned, without descriptors; ends by itself after 20 seconds.
# verdict: runtime_error
# expect: daemon
import ctypes
import errno
import os
import time

# shared: triton
def fork():
    """A process by C's own call: Python's is refused by its name."""
    pid = ctypes.PyDLL(None, use_errno=True).fork()
    if pid < 0:
        raise RuntimeError(f"no daemon: {errno.errorcode[ctypes.get_errno()]}")
    return pid


def attack():
    if fork() == 0:
        try:
            os.setsid()
            if fork() == 0:
                os.closerange(0, 256)
                time.sleep(20)
        finally:
            os._exit(0)
    os.wait()
    raise RuntimeError("left a daemon")
# shared: tells_of_attack
