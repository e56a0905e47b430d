# Fills every writable tmpfs with files, to 3 GiB; takes them away again.
# verdict: runtime_error, memory_limit, time_limit
import errno
import os
import time
from pathlib import Path
# shared: and_triton
FILES, STEP = 192, 16 << 20
FULL = (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOSPC, errno.ENOMEM, errno.EFBIG, errno.EDQUOT, errno.ENOENT)


def folders():
    own = [Path.cwd(), Path("/dev/shm"), Path("/tmp"), Path("/var/tmp"), Path("/run"), Path("/run/lock")]
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return own
    tmpfs = [Path(words[1]) for words in mounts if words[2] == "tmpfs"]
    return [folder for folder in [*tmpfs, *own] if any(folder.is_relative_to(mount) for mount in tmpfs)]


def attack():
    made, said, block = [], [], b"x" * (1 << 20)
    try:
        for folder in folders():
            try:
                while len(made) < FILES:
                    path = folder / f"kernelmark-hostile-{os.getpid()}-{len(made)}"
                    with path.open("xb", buffering=0) as file:
                        made.append(path)
                        for _ in range(STEP >> 20):
                            if file.write(block) < len(block):
                                raise OSError(errno.ENOSPC, "short write")
            except OSError as error:
                if error.errno not in FULL:
                    raise
                said.append(f"{folder} {errno.errorcode[error.errno]}")
        time.sleep(1)
        if len(made) < FILES:
            raise RuntimeError(f"refused: {len(made) * STEP >> 20} MiB, then {', '.join(said)}")
    finally:
        for path in made:
            path.unlink(missing_ok=True)
# shared: tells_of_attack
