# Looks for memory that other workers or the judge share: files, segments, descriptors.
# verdict: runtime_error
# expect: refused
# needs: a file in the judge's /dev/shm, so that the member can fail
import os
from pathlib import Path

# shared: triton
def attack():
    found = []
    for folder in ("/dev/shm", "/dev/mqueue", "/run/shm"):
        try:
            found += [f"{folder}/{name}" for name in os.listdir(folder)]
        except OSError as error:
            print(folder, error.strerror)
    for name in ("shm", "msg", "sem"):
        try:
            found += Path(f"/proc/sysvipc/{name}").read_text().splitlines()[1:]
        except OSError as error:
            print(name, error.strerror)
    if not found:
        raise RuntimeError("refused: nothing is shared")
    print(found[:20])
# shared: attacks
