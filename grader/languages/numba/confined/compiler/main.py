"""Compiler: NVIDIA's assembler makes machine code of a kernel's PTX, as of CUDA C++'s."""

from __future__ import annotations

from grader.languages.cuda.confined.compiler.main import prepare, serve

__all__ = ["STARTS_PROGRAMS", "prepare", "serve"]

STARTS_PROGRAMS = True
