"""Numba's planner: host code in Python, whose kernels Numba's compiler lowers to PTX."""

from __future__ import annotations

from importlib import import_module

from grader.home import with_extra
from grader.host import planner
from grader.languages.numba.packages import problem
from grader.plan.frames import Channel

# Imported late, since Numba need not be installed.
_HOST = "grader.languages.numba.confined.planner.host"


def prepare() -> str:
    """Import Numba and compile a first kernel in the process that planners are forked from, where it is installed.
    Returns the reason if Numba is installed and compiles nothing; files in other languages are judged all the same."""
    if problem():
        return ""
    try:
        import_module(_HOST).api.compile_first()
    except Exception as error:
        return f"Numba compiles no kernel ({type(error).__name__}: {error}); {with_extra('numba')}"
    return ""


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up. Without Numba the judge has refused the file before."""
    planner.serve(channel, import_module(_HOST).NumbaHost)
