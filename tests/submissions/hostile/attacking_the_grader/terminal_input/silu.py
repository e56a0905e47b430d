# Types into a terminal: its own, to be harmless, or whatever stands on its descriptors.
# verdict: runtime_error
# expect: refused
import errno
import fcntl
import os
import termios
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.ENOTTY, errno.EIO, errno.ENXIO,
            errno.ENODEV)
# shared: worked
def type_into(descriptor):
    fcntl.ioctl(descriptor, termios.TIOCSTI, b" ")


def own_terminal():
    _, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    type_into(terminal)


def attack():
    tries = [worked(f"descriptor {number}", lambda number=number: type_into(number)) for number in range(4)]
    tries += [worked("own terminal", own_terminal)]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
