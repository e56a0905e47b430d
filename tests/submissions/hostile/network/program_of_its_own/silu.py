# Writes a program into its folder and runs it, by path and by descriptor.
# verdict: runtime_error
# expect: refused
import errno
import os

import triton
import triton.language as tl

TEXT = b"#!/bin/sh\nexit 7\n"


def run(action):
    pid = os.fork()
    if pid == 0:
        try:
            action()
        except OSError as error:
            os._exit(100 + min(error.errno, 100))
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
            run(lambda: os.execv(path, [path])),
            run(lambda: os.execve(reader, [path], {})),
            run(lambda: os.execv("/lib64/ld-linux-x86-64.so.2", ["ld.so", "/bin/true"])),
        ]
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EAGAIN, errno.ENOMEM):
            raise
        raise RuntimeError(f"refused: fork {errno.errorcode[error.errno]}") from None
    if 7 not in codes and codes[2] != 0:
        raise RuntimeError(f"refused: {[errno.errorcode.get(code - 100, code) for code in codes]}")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


try:
    attack()
except Exception as error:
    failed = error
else:
    failed = None


def silu(x, out):
    if failed is not None:
        raise failed
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
