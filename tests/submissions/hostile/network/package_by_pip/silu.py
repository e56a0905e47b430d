# Installs a package.
# verdict: runtime_error, time_limit
import errno
import subprocess
import sys
# shared: and_triton
COMMAND = (sys.executable, "-m", "pip", "install", "--quiet", "--target", "lib", "--no-deps", "--retries", "0",
           "--timeout", "1", "six")


def attack():
    try:
        done = subprocess.run(COMMAND, capture_output=True, stdin=subprocess.DEVNULL, timeout=20, text=True)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EAGAIN, errno.ENOMEM):
            raise
        raise RuntimeError(f"refused: {errno.errorcode[error.errno]}") from None
    if done.returncode:
        raise RuntimeError(f"refused: {done.stderr[-200:]}")
# shared: tells_of_attack
