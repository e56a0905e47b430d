"""Runs a command as in a container whose runtime refuses some system calls.

    python -m tests.ways.container landlock,namespaces COMMAND…

A seccomp filter stands for the runtime's own: it refuses what Docker's and Kubernetes' default profiles refuse
(namespaces), and what gVisor and old kernels lack (Landlock). A container's mounts and cgroups are not imitated.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

LANDLOCK = (444, 445, 446)
CLONE3 = 435
# clone, unshare, setns, mount.
NUMBERS = {"x86_64": (56, 272, 308, 165), "aarch64": (220, 97, 268, 40)}
NEW_NAMESPACES = 0x7E02_0000
# From <linux/filter.h> and <linux/seccomp.h>.
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000
NUMBER, FIRST_ARGUMENT = 0, 16
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2


def rules(lacking: set[str]) -> list[tuple[int, int, int, int]]:
    """The filter's instructions: code, jump if true, jump if false, operand."""
    made = [(LOAD, 0, 0, NUMBER)]
    clone, *others = NUMBERS[platform.machine()]
    refused = dict.fromkeys(LANDLOCK, errno.ENOSYS) if "landlock" in lacking else {}
    if "namespaces" in lacking:
        # The C library tries clone in place of clone3.
        refused |= {CLONE3: errno.ENOSYS} | dict.fromkeys(others, errno.EPERM)
    for number, error in refused.items():
        made += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | error)]
    if "namespaces" in lacking:
        made += [(EQUAL, 0, 3, clone), (LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, NEW_NAMESPACES),
                 (RETURN, 0, 0, ERROR | errno.EPERM)]
    return [*made, (RETURN, 0, 0, ALLOW)]


def main(lacking: str, *command: str) -> None:
    made = rules(set(lacking.split(",")))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in made))
    program = ctypes.create_string_buffer(struct.pack("HP", len(made), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
