"""What this machine can do: each finding was looked at, not assumed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

from grader.forkserver import isolation
from grader.forkserver.handle import InfrastructureError, Zygote

PACKAGES = ("torch", "triton", "numpy", "pytest", "pytest-timeout", "pydantic", "jinja2", "typer", "rich", "matplotlib")
# torch and what it is tested with: "Triton without a GPU" in the README.
TESTED_NUMPY = (2, 4)


@dataclass(frozen=True)
class Finding:
    """One line of `kernelmark doctor`. `fatal`: nothing can be graded. `remedy`: the command or change that helps."""

    what: str
    found: str
    ok: bool = True
    fatal: bool = False
    remedy: str = ""

    @property
    def mark(self) -> str:
        return "ok" if self.ok else "FAIL" if self.fatal else "note"


def findings() -> list[Finding]:
    """Looks at everything; starts one zygote and one worker to see that they run."""
    return [_python(), *_packages(), _numpy(), *_device(), _worker(), *_isolation(), _browser()]


def _python() -> Finding:
    ok = sys.version_info >= (3, 11)
    return Finding("python", platform.python_version(), ok, not ok, "" if ok else "install Python 3.11 or 3.12")


def _packages() -> list[Finding]:
    found = []
    for name in PACKAGES:
        try:
            found.append(Finding(name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(name, "not installed", False, True, "make setup"))
    return found


def _numpy() -> Finding:
    import numpy

    version = tuple(int(part) for part in numpy.__version__.split(".")[:2])
    triton = importlib.metadata.version("triton")
    ok = version < TESTED_NUMPY or not triton.startswith(("3.4", "3.5", "3.6"))
    return Finding(
        "numpy and triton", "suit each other" if ok else f"numpy {numpy.__version__} breaks loops in triton {triton}",
        ok, False, "" if ok else "pip install 'numpy>=2,<2.4'")


def _device() -> list[Finding]:
    import torch

    from grader.judge.device import no_gpu, state

    if not torch.cuda.is_available():
        return [Finding("device", "no GPU: correctness is graded in full, speed is not measured")]
    name = torch.cuda.get_device_name()
    if trouble := no_gpu():
        return [Finding("device", f"{name}: {trouble}", False, remedy="pip install cuda-bindings")]
    found = [Finding("device", f"{name}: answers are judged on it, speed included")]
    if unwatched := state().unavailable:
        found.append(Finding("its clocks", f"not watched: {unwatched}", False, remedy="pip install nvidia-ml-py"))
    return found


def _worker() -> Finding:
    """Starts what a grading starts, and times it."""
    from grader.plan.wire import Limits

    started = time.monotonic()
    try:
        zygote = Zygote(("planner", "simulator", "compiler"), layers=isolation.measure().layers)
        _ = zygote.versions
    except InfrastructureError as error:
        return Finding("planner", str(error), False, True, "make clean setup")
    imported = time.monotonic() - started
    try:
        started = time.monotonic()
        zygote.spawn(Limits(memory_mb=1024, file_mb=1, processes=16, cpu_seconds=10), "planner").kill()
        forked = time.monotonic() - started
    except InfrastructureError as error:
        return Finding("planner", str(error), False, True)
    finally:
        zygote.close()
    return Finding("planner", f"torch and triton imported in {imported:.1f} s, a planner forked and ended "
                              f"in {forked * 1000:.0f} ms")


def _isolation() -> list[Finding]:
    """What workers are kept from, by trying it; then what is missing, and what would add it."""
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        return [Finding("isolation", str(error), False, True, "make clean setup")]
    found = [Finding("isolation", f"level {measured}: {measured.summary}", measured.level >= isolation.ADVISED)]
    return found + [Finding("", text, measured.level >= isolation.ADVISED) for text in measured.missing]


def _browser() -> Finding:
    path = shutil.which("chromium")
    if path is None:
        return Finding("browser", "no chromium: the tests of the pages are skipped (grading needs none)", False,
                       remedy="apt install chromium")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    return Finding("browser", f"{version.strip() or path} (for the tests of the pages)")
