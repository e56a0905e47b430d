# Plants a start-up module in its home and settings in the environment for the next worker.
# verdict: runtime_error
# expect: exited
import os
import site
import sys
from pathlib import Path
# shared: and_triton
MARK = "KERNELMARK_HOSTILE"


def plant():
    home = Path(os.environ.get("HOME", "."))
    library = home / f".local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    folders = (library, Path(site.getusersitepackages()), home)
    if MARK in os.environ or any((folder / "usercustomize.py").exists() for folder in folders):
        # An earlier worker has crashed, so points are lost; a verdict of its own tells that the module was there.
        raise NotImplementedError("found")
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "usercustomize.py").write_text(f"import os; os.environ['{MARK}'] = '1'\n")
            (folder / "kernelmark-hostile.pth").write_text("import kernelmark_hostile\n")
        except OSError:
            continue
    os.environ.update({MARK: "1", "PYTHONPATH": str(home), "PYTHONSTARTUP": str(home / "usercustomize.py"),
                       "LD_PRELOAD": str(home / "kernelmark-hostile.so"), "TRITON_CACHE_DIR": str(home)})
    os._exit(3)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


def silu(x, out):
    plant()
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
