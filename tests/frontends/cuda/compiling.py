"""Texts for tests, made by NVIDIA's compiler as files of submissions are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.frontends.cuda.text import EntryText, split
from grader.frontends.cuda.toolkit import problem, toolkit
from grader.plan.plan import Kernel

needs_nvcc = pytest.mark.skipif(problem() != "", reason=f"no nvcc: {problem()}")
HOST = "-fPIC,-fno-optimize-sibling-calls"


def ptx_of(source: str, folder: Path) -> str:
    """What nvcc makes of a file."""
    found = toolkit()
    assert found is not None
    (folder / "silu.cu").write_text(source, encoding="utf-8")
    subprocess.run(
        [found.nvcc, "-arch=sm_90", "-lineinfo", "-g", "-O2", "-std=c++17", "-w", "-Xcompiler", HOST, "-ptx", "silu.cu",
         "-o", "silu.ptx"], cwd=folder, check=True)
    return (folder / "silu.ptx").read_text(encoding="utf-8")


def kernel_of(entry: EntryText) -> Kernel:
    return Kernel(language="cuda", name=entry.name, symbol=entry.symbol, line=entry.line, text=entry.text,
                  signature=list(entry.signature))


def kernels_of(source: str, folder: Path) -> dict[str, Kernel]:
    """The kernels of a file, by what they are called there."""
    return {entry.name: kernel_of(entry) for entry in split(ptx_of(source, folder), source)}
