# Keeps data in the kernel's keyrings, for a later worker to find.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
KEY_SPEC_PROCESS_KEYRING, KEY_SPEC_SESSION_KEYRING, KEYCTL_GET_KEYRING_ID = -2, -3, 0


def attack():
    key = (b"user", b"kernelmark-hostile", b"x", 1, KEY_SPEC_PROCESS_KEYRING)
    tries = [
        worked("add_key", lambda: syscall(248, 217, *key)),
        worked("keyctl", lambda: syscall(250, 219, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1)),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
