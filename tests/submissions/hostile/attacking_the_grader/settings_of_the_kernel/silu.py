# Opens the kernel's settings for writing; writes back what they hold.
# verdict: runtime_error
# expect: refused
import errno
import os
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.EROFS)
# shared: worked
FILES = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/overcommit_memory",
         "/proc/sys/kernel/hostname", "/proc/sys/fs/file-max", "/sys/kernel/uevent_helper",
         "/sys/kernel/mm/transparent_hugepage/enabled")
NO_WRITING = ("/proc/sysrq-trigger", "/proc/acpi/wakeup", "/sys/power/state")


def rewrite(name):
    descriptor = os.open(name, os.O_RDWR)
    text = os.read(descriptor, 4096)
    os.lseek(descriptor, 0, os.SEEK_SET)
    if "[" not in text.decode():
        os.write(descriptor, text)


def attack():
    tries = [worked(name, lambda name=name: rewrite(name)) for name in FILES]
    tries += [worked(name, lambda name=name: os.open(name, os.O_WRONLY)) for name in NO_WRITING]
    if any(tries):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
