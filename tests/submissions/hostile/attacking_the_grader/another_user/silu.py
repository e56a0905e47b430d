# Becomes root, or another user, by the calls that are for that.
# verdict: runtime_error
# expect: refused
import errno
import os
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EINVAL)
# shared: worked
def attack():
    tries = [
        worked("setuid 0", lambda: os.setuid(0)) if os.getuid() else False,
        worked("setresuid", lambda: os.setresuid(65533, 65533, 65533)),
        worked("setgroups", lambda: os.setgroups([0])),
        worked("setgid", lambda: os.setgid(65533)),
        worked("chown", lambda: os.chown(".", 65533, 65533)),
    ]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
