"""The packages and libraries that Numba-CUDA needs, and what is missing of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from grader.home import with_extra
from grader.languages.cuda.toolkit import assembler, homes

# Minor versions whose private interfaces the planner uses, as in pyproject.toml.
_VERSIONS = {"numba": "0.68", "numba-cuda": "0.30"}
_NVRTC = "libnvrtc.so*"
# The module by which numba-cuda takes the place of numba.cuda, which a .pth file imports.
_REDIRECTOR = "_numba_cuda_redirector"


@cache
def problem() -> str:
    """Return why files cannot be judged here, and after a semicolon what to do; "" if they can."""
    for name, expected in _VERSIONS.items():
        try:
            actual = version(name)
        except PackageNotFoundError:
            return f"no {name}; {with_extra('numba')}"
        if not f"{actual}.".startswith(f"{expected}."):
            return f"{name} {actual}, where {expected} is expected; {with_extra('numba')}"
    if _REDIRECTOR not in sys.modules:
        return "numba-cuda lies where Python reads no .pth files, as after pip's --target; install it in an environment"
    if not any(any(folder.glob(_NVRTC)) for folder in _libraries()):
        return f"no NVRTC of CUDA 13; {with_extra('numba')}"
    return "" if assembler() else f"no ptxas of CUDA 13; {with_extra('numba')}"


def _libraries() -> Iterator[Path]:
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or () if spec else ()):
        yield Path(folder) / "cu13" / "lib"
    for home in homes():
        yield from (Path(home) / "lib64", Path(home) / "lib")


def installed() -> str:
    """Return what .py files are compiled with, in one line; "" if it is not there."""
    return "" if problem() else (
        f"kernels are compiled with numba-cuda {version('numba-cuda')}, numba {version('numba')} and {assembler()}")
