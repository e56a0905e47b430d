"""Texts for tests, made by NVIDIA's compiler as files of submissions are."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from grader.judging.running.build_cache import BuildCache
from grader.judging.running.lane import user_cache
from grader.languages.cuda.text import EntryText, split
from grader.languages.cuda.toolkit import problem, toolkit
from grader.plan.plan import Kernel

needs_nvcc = pytest.mark.skipif(problem() != "", reason=f"no nvcc: {problem()}")
HOST = "-fPIC,-fno-optimize-sibling-calls"
KEPT = BuildCache(user_cache() / "tests")
"""PTX that nvcc has made for these tests, in any run, clone and worker, known by its source, options and toolkit."""


@cache
def _version(nvcc: str) -> str:
    return subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True, timeout=100).stdout


@cache
def ptx(source: str, *options: str) -> str:
    """What nvcc makes of a file, optimized, with its lines."""
    found = toolkit()
    assert found is not None
    parts = [word.encode() for word in (source, *options, str(found), _version(found.nvcc))]
    if (kept := KEPT.get(*parts)) is not None:
        return kept.decode()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "silu.cu").write_text(source, encoding="utf-8")
        subprocess.run([found.nvcc, "-lineinfo", "-O2", "-std=c++17", *options, "-ptx", "silu.cu", "-o", "silu.ptx"],
                       cwd=folder, check=True, capture_output=True, timeout=100)
        made = Path(folder, "silu.ptx").read_bytes()
    KEPT.keep(made, *parts)
    return made.decode()


def ptx_of(source: str) -> str:
    """What nvcc makes of a file of a submission."""
    return ptx(source, "-arch=sm_90", "-g", "-w", "-Xcompiler", HOST)


def kernel_of(entry: EntryText) -> Kernel:
    return Kernel(language="cuda", name=entry.name, symbol=entry.symbol, line=entry.line, text=entry.text,
                  signature=list(entry.signature))


def kernels_of(source: str) -> dict[str, Kernel]:
    """The kernels of a file, by what they are called there."""
    return {entry.name: kernel_of(entry) for entry in split(ptx_of(source), source)}
