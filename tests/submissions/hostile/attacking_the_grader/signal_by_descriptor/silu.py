# Has the kernel send SIGKILL to the parent: as the owner of a descriptor that becomes ready.
# verdict: runtime_error
# expect: refused
import errno
import fcntl
import os
import signal
import socket
import sys
import time
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
def attack():
    pid = zygote()

    def send():
        ours, theirs = socket.socketpair()
        fcntl.fcntl(ours, fcntl.F_SETOWN, pid)
        fcntl.fcntl(ours, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        theirs.send(b"x")
        time.sleep(0.5)
        # The worker dies with its parent: where it lives on, the signal did not arrive.
        raise OSError(errno.EPERM, "no signal")

    worked("F_SETOWN", send)
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
