# Opens files that are nobody's but root's; it reads none of what they hold.
# verdict: runtime_error
# expect: refused
import errno
import os
from pathlib import Path
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT)
# shared: worked
NAMES = ("/etc/shadow", "/etc/gshadow", "/root", "/root/.ssh", "/root/.bash_history", "/etc/ssh/ssh_host_rsa_key",
         "/var/log", "/var/spool/cron", "/etc/sudoers", "/home")


def attack():
    homes = [str(Path("~").expanduser()), os.path.expanduser("~root/.ssh")]
    tries = [worked(name, lambda name=name: os.listdir(name) if os.path.isdir(name) else Path(name).open("rb").close())
             for name in (*NAMES, *homes[1:])]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
