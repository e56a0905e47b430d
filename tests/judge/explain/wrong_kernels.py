"""Kernels that Triton's front end refuses, each for a mistake that students make, and what the hint must hold."""

from __future__ import annotations

import runpy
from pathlib import Path
from textwrap import indent
from typing import Any

BEGIN = """
import math
import torch
import triton
import triton.language as tl

SIZE = 32

def double(value):
    return value * 2
"""
# By name: what stands in a kernel of (x, n, BLOCK), and words of its hint.
KERNELS: dict[str, tuple[str, str]] = {
    "torch_call": ("tl.store(x, torch.exp(tl.load(x)))", "triton.language only"),
    "math_call": ("tl.store(x, math.exp(tl.load(x)))", "triton.language only"),
    "plain_helper": ("tl.store(x, double(tl.load(x)))", "put @triton.jit above double"),
    "global_size": ("tl.store(x + tl.arange(0, SIZE), 1.0)", "does not see SIZE"),
    "odd_block": ("tl.store(x + tl.arange(0, 33), 1.0)", "next_power_of_2"),
    "block_of_an_argument": ("tl.store(x + tl.arange(0, n), 1.0)", "`BLOCK: tl.constexpr`"),
    "huge_block": ("tl.store(x + tl.arange(0, 2097152), 1.0)", "too large"),
    "chained": (
        "lanes = tl.arange(0, BLOCK)\n"
        "tl.store(x + lanes, 1.0, mask=0 <= lanes < n)",
        "(a <= b) & (b < c)"),
    "misspelt": ("tl.store(x, tl.sigmoidd(tl.load(x)))", "has no sigmoidd"),
    "undefined": ("tl.store(x + offsets, 1.0)", "Is offsets misspelt"),
    "set_in_one_branch": (
        "if n > 3:\n"
        "    value = 1.0\n"
        "tl.store(x, value)",
        "Is value misspelt"),
    "shapes": (
        "tl.store(x + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) + tl.load(x + tl.arange(0, 64)))",
        "different shapes"),
    "one_address": ("tl.store(x, tl.load(x + tl.arange(0, BLOCK)))", "add the offsets"),
    "no_pointer": ("tl.store(x, tl.load(n + tl.arange(0, BLOCK)))", "need a pointer"),
    "indexed": ("tl.store(x, x[0])", "tl.load(pointer + offsets, mask)"),
    "printed": ("print(tl.load(x))", "tl.device_print"),
    "indexed_by_a_block": ("tl.store(x, x[tl.arange(0, BLOCK)])", "tl.load(pointer + offsets, mask)"),
    "assigned": ("x[0] = 1.0", "tl.store(pointer + offsets, value, mask)"),
    "changing_type": (
        "total = 0\n"
        "for i in range(n):\n"
        "    total += tl.load(x + i)\n"
        "tl.store(x, total)",
        "total changes its type"),
    "if_of_a_block": (
        "value = tl.load(x + tl.arange(0, BLOCK))\n"
        "if value > 0:\n"
        "    value = value + 1\n"
        "tl.store(x + tl.arange(0, BLOCK), value)",
        "tl.where"),
    "exp_of_integers": ("tl.store(x + tl.arange(0, BLOCK), tl.exp(tl.arange(0, BLOCK)))", ".to(tl.float32)"),
    "divided_offsets": ("tl.store(x + tl.arange(0, BLOCK) / 2, 1.0)", "divided with //"),
    "small_dot": (
        "at = x + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
        "tl.store(at, tl.dot(tl.load(at), tl.load(at)))",
        "at least 16"),
    "mismatched_dot": (
        "at = x + tl.arange(0, 32)[:, None] * 16 + tl.arange(0, 16)[None, :]\n"
        "tl.store(at, tl.dot(tl.load(at), tl.load(at)))",
        "second dimension of the first"),
    "a_list": (
        "values = [2 * i for i in range(4)]\n"
        "tl.store(x, values[0])",
        "no lists"),
    "a_try": (
        "try:\n"
        "    tl.store(x, 1.0)\n"
        "finally:\n"
        "    pass",
        "cannot contain this (Try)"),
    "a_break": (
        "for i in range(n):\n"
        "    if i > 3:\n"
        "        break",
        "cannot be left early"),
    "a_return": (
        "for i in range(n):\n"
        "    if i > 3:\n"
        "        return",
        "cannot be left early"),
    "fourth_axis": ("tl.store(x + tl.program_id(3), 1.0)", "three axes"),
    "python_float": ("tl.store(x, float(tl.load(x)))", "float() works on Python's numbers"),
    "static_check": ("tl.static_assert(BLOCK == 7, \"seven lanes\")", "static_assert"),
    "other_alone": ("tl.store(x, tl.load(x, other=0.0))", "mask as well"),
    "unknown_keyword": ("tl.store(x, 1.0, masked=True)", "no parameter masked"),
    "wide_factor": ("tl.store(x, tl.load(x).to(tl.uint8) * 256)", "What is computed of uint8 is uint8 again"),
}


def made(folder: Path) -> dict[str, Any]:
    """The kernels, from a file: Triton reads their source."""
    path = folder / "kernels.py"
    path.write_text(BEGIN + "".join(f"@triton.jit\ndef {name}(x, n, BLOCK: tl.constexpr):\n{indent(body, '    ')}\n"
                                    for name, (body, _) in KERNELS.items()))
    return runpy.run_path(str(path))
