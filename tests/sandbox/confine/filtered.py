"""Programs of their own make real calls with and without the filter: a refusal is the filter's, not the system's."""

import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from grader.home import ROOT
from grader.sandbox.confine import seccomp

SECONDS = 60

on_this_system = pytest.mark.skipif(not seccomp.available(), reason="this system takes no seccomp filter")

PRELUDE = """
import ctypes, errno, fcntl, json, mmap, os, signal, socket, subprocess, sys, threading
from grader.sandbox.confine import seccomp
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(*map(ctypes.c_long, (number, *args)))
    return ctypes.get_errno() if result == -1 else 0
kept = []
def pointer(kind, *values):
    kept.append((kind * len(values))(*values))
    return ctypes.addressof(kept[-1])
def column(name):
    return (seccomp.REFUSED | seccomp.EXEC | seccomp.EXAMINED)[name][seccomp.ARCHITECTURES[os.uname().machine].column]
"""


def run(
    body: str, *args: object, filtered: bool = True, allow_exec: bool = False, before: str = "",
    descriptors: tuple[int, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs `before`, then under the filter `body`, in a program and a session of their own."""
    install = f"seccomp.install(allow_exec={allow_exec})\n" if filtered else ""
    return subprocess.run(
        [sys.executable, "-B", "-c", f"{PRELUDE}{textwrap.dedent(before)}\n{install}{textwrap.dedent(body)}",
         *map(str, args)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=SECONDS, start_new_session=True, pass_fds=descriptors, check=False)


def printed(body: str, *args: object, **how: Any) -> str:
    result = run(body, *args, **how)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
