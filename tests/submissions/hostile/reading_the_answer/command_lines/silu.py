# Reads the command lines of other processes: which course, which folder, which seed.
# verdict: runtime_error
# expect: refused
import os
from pathlib import Path
# shared: and_triton
WORDS = (b"--seed", b"kernelmark", b"pytest", b"grader")


def attack():
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (os.getpid(), os.getppid())]
    except OSError as error:
        raise RuntimeError(f"refused: {error.strerror}") from None
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        # The grader's own boot text, which the sandbox repeats, tells nothing.
        if any(word in text for word in WORDS) and b"grader.sandbox.forkserver.server" not in text:
            print(text[:500])
            return
    raise RuntimeError(f"refused: nothing told by {len(pids)} processes")
# shared: attacks
