# Leaves folders behind that their owner may not open, some with files inside.
# verdict: runtime_error
# expect: closed folders
import errno
import os
from pathlib import Path
# shared: and_triton
FOLDERS = 20


def attack():
    closed = 0
    for number in range(FOLDERS):
        folder = Path(f"kernelmark-hostile-{number}")
        folder.mkdir()
        (folder / "file").touch()
        Path(f"empty-{number}").mkdir(mode=0)
        try:
            os.chmod(folder, 0)
            closed += 1
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES):
                raise
    raise RuntimeError(f"left {closed} closed folders and {FOLDERS} that were made closed")
# shared: tells_of_attack
