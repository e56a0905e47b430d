# Opens the memory of the machine, and its disks, for reading.
# verdict: runtime_error
# expect: refused
import errno
import os
# shared: and_triton
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOENT, errno.ENXIO, errno.ENODEV,
            errno.ENOMEDIUM)
# shared: worked
NAMES = ("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore", "/proc/vmcore", "/dev/kmsg", "/proc/kmsg", "/dev/vda",
         "/dev/sda", "/dev/nvme0n1", "/dev/dm-0", "/dev/loop-control", "/dev/fuse", "/dev/kvm", "/dev/uinput")


def attack():
    names = list(NAMES)
    try:
        names += [f"/dev/{name}" for name in os.listdir("/dev") if name.startswith(("vd", "sd", "nvme", "dm-"))]
    except OSError as error:
        said.append(f"/dev {errno.errorcode[error.errno]}")
    if any([worked(name, lambda name=name: os.close(os.open(name, os.O_RDONLY | os.O_NONBLOCK))) for name in names]):
        return
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: attacks
