# Runs a program, which Python's own hooks do not look into.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
import sys

# shared: triton
def run(command):
    """The status of a program started by C's own call: Python's are refused by their names."""
    pid = ctypes.c_int()
    words = (ctypes.c_char_p * (len(command) + 1))(*(word.encode() for word in command), None)
    failed = ctypes.CDLL(None).posix_spawn(
        ctypes.byref(pid), words[0], None, None, words, (ctypes.c_char_p * 1)(None))
    if failed:
        raise OSError(failed, "posix_spawn")
    return os.waitstatus_to_exitcode(os.waitpid(pid.value, 0)[1])


def attack():
    said = []
    for command in ((sys.executable, "-I", "-c", "pass"), ("/bin/true",), ("/bin/sh", "-c", ":")):
        try:
            status = run(command)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EAGAIN, errno.ENOMEM):
                raise
            said.append(errno.errorcode[error.errno])
            continue
        if status == 0:
            return
        said.append(str(status))
    raise RuntimeError(f"refused: {', '.join(said)}")
# shared: tells_of_attack
