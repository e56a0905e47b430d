# Makes namespaces of its own, in which it would be root; and enters those of the parent.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
# shared: syscall
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EINVAL, errno.ENOSPC,
            errno.EUSERS)
# shared: worked
FLAGS = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000,
         "uts": 0x4000000, "cgroup": 0x2000000}
SIGCHLD = 17


def enter(name):
    descriptor = os.open(f"/proc/{os.getppid()}/ns/{name}", os.O_RDONLY)
    syscall(308, 268, descriptor, 0)


def clone(flag):
    if syscall(56, 220, flag | SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


def attack():
    tries = [worked(f"setns {name}", lambda name=name: enter(name)) for name in ("mnt", "pid", "net", "user")]
    tries += [worked(f"clone {name}", lambda flag=flag: clone(flag)) for name, flag in FLAGS.items()]
    tries += [worked(f"unshare {name}", lambda flag=flag: syscall(272, 97, flag)) for name, flag in FLAGS.items()]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
