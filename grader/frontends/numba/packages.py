"""The packages that Numba-CUDA needs, and what is missing of them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from grader.frontends.cuda.toolkit import assembler
from grader.home import with_extra

_MODULES = ("numba", "numba_cuda")


def missing() -> str:
    """Return the first of Numba's packages that is not installed; "" if all are."""
    return next((name for name in _MODULES if find_spec(name) is None), "")


def problem() -> str:
    """Return why files cannot be judged here, and after a semicolon what to do; "" if they can."""
    if name := missing():
        return f"no {name}; {with_extra('numba')}"
    return "" if assembler() else f"no ptxas of CUDA 13; {with_extra('numba')}"


def installed() -> str:
    """Return what .py files are compiled with, in one line; "" if it is not there."""
    try:
        return "" if problem() else (
            f"kernels are compiled with numba-cuda {version('numba-cuda')}, numba {version('numba')} and {assembler()}")
    except PackageNotFoundError:
        return ""
