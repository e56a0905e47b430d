# Opens 5,000 descriptors.
# verdict: runtime_error
# expect: refused
import errno
from pathlib import Path

# shared: triton
def attack():
    kept = []
    try:
        for _ in range(5_000):
            kept.append(Path("kernelmark-hostile").open("wb"))
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        text = f"refused: {errno.errorcode[error.errno]} after {len(kept)}"
        kept.clear()
        raise RuntimeError(text) from None
# shared: tells_of_attack
