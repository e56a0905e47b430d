# Makes the parent the owner of a socket by ioctl, then sends urgent data.
# verdict: runtime_error
# expect: refused
import errno
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
# shared: zygote
FIOSETOWN, SIOCSPGRP = 0x8901, 0x8902


def attack():
    pid = zygote()
    ends = []
    worked("socketpair", lambda: ends.extend(socket.socketpair()))
    if not ends:
        raise RuntimeError(f"refused: {', '.join(said)}")
    set_owner = worked("FIOSETOWN", lambda: fcntl.ioctl(ends[0], FIOSETOWN, struct.pack("i", pid)))
    set_group = worked("SIOCSPGRP", lambda: fcntl.ioctl(ends[0], SIOCSPGRP, struct.pack("i", pid)))
    if not (set_owner or set_group):
        raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
