"""Simulator: Numba's kernels are PTX, which that of CUDA C++ runs."""

from __future__ import annotations

from grader.languages.cuda.confined.simulator.main import prepare, serve

__all__ = ["prepare", "serve"]
