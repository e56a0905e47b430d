# Puts a link to a folder of another's in the place of its own, so that the grader removes that one.
# verdict: runtime_error
# expect: left behind
import errno
import os

# shared: triton
def attack():
    said = []
    home = os.path.basename(os.path.dirname(os.getcwd()))
    ways = {
        "renames": lambda: os.rename("../work", "../kernelmark-hostile"),
        "links": lambda: os.symlink("/usr/share", "../work"),
        "links inside": lambda: os.symlink("/usr/share", "kernelmark-hostile"),
        "moves": lambda: os.rename("..", f"../../{home}-kernelmark-hostile"),
    }
    for way, action in ways.items():
        try:
            action()
            said.append(f"{way} yes")
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS, errno.EXDEV, errno.EEXIST, errno.ENOENT,
                                   errno.EBUSY):
                raise
            said.append(f"{way} {errno.errorcode[error.errno]}")
    raise RuntimeError(f"left behind: {', '.join(said)}")
# shared: attacks
