# Takes every right from its folder and the one above, so that it cannot be removed.
# verdict: runtime_error
# expect: left behind
import errno
import os

# shared: triton
def attack():
    said = []
    for path in (".", ".."):
        try:
            os.chmod(path, 0)
            said.append(f"{path} closed")
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            said.append(f"{path} {errno.errorcode[error.errno]}")
    raise RuntimeError(f"left behind: {', '.join(said)}")
# shared: attacks
