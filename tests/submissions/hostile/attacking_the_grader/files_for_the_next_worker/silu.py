# Plants files wherever it may write, the caches among them, ends its process, and looks for them in the next.
# verdict: runtime_error
# expect: exited
import os
import tempfile
from pathlib import Path
# shared: and_triton
MARK = "kernelmark-hostile-planted"


def places():
    named = (os.environ.get(name) for name in ("HOME", "TMPDIR", "TRITON_CACHE_DIR", "TRITON_HOME", "XDG_CACHE_HOME"))
    fixed = (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/var/lock")
    own = {Path(place).absolute() for place in (*named, *fixed) if place}
    return own | {Path.cwd(), *list(Path.cwd().parents)[:3]}


def plant():
    found = [str(place) for place in places() if (place / MARK).exists()]
    for place in places():
        try:
            (place / MARK).unlink() if found else (place / MARK).touch()
        except OSError:
            continue
    if found:
        # An earlier worker has crashed, so points are lost; a verdict of its own tells that the files were there.
        raise NotImplementedError(f"found {found}")
    os._exit(3)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


def silu(x, out):
    plant()
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
