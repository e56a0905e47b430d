# Writes a program into its folder and runs it, by path and by descriptor.
# verdict: runtime_error
# expect: refused
import ctypes
import errno
import os
# shared: and_triton
TEXT = b"#!/bin/sh\nexit 7\n"
libc = ctypes.PyDLL(None, use_errno=True)


def words(*texts):
    return (ctypes.c_char_p * (len(texts) + 1))(*(text.encode() for text in texts), None)


# shared: fork
def run(action):
    pid = fork()
    if pid == 0:
        try:
            # It returns where nothing was run.
            action()
            os._exit(100 + min(ctypes.get_errno(), 100))
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def attack():
    program = os.open("kernelmark-hostile", os.O_CREAT | os.O_RDWR, 0o700)
    os.write(program, TEXT)
    os.close(program)
    reader = os.open("kernelmark-hostile", os.O_RDONLY)
    os.set_inheritable(reader, True)
    path = os.path.abspath("kernelmark-hostile")
    try:
        codes = [
            run(lambda: libc.execv(path.encode(), words(path))),
            run(lambda: libc.fexecve(reader, words(path), words())),
            run(lambda: libc.execv(b"/lib64/ld-linux-x86-64.so.2", words("ld.so", "/bin/true"))),
        ]
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EAGAIN, errno.ENOMEM):
            raise
        raise RuntimeError(f"refused: fork {errno.errorcode[error.errno]}") from None
    if 7 not in codes and codes[2] != 0:
        raise RuntimeError(f"refused: {[errno.errorcode.get(code - 100, code) for code in codes]}")
# shared: tells_of_attack
