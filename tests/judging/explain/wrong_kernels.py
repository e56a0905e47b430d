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
    # What Python, NumPy and PyTorch have under these names.
    "cube": ("tl.store(x, tl.load(x) ** 3)", "no powers"),
    "root_by_a_power": (
        "value = tl.load(x)\n"
        "value **= 0.5\n"
        "tl.store(x, value)",
        "tl.sqrt(x)"),
    "power_of_a_block": ("tl.store(x, tl.load(x).pow(2))", "no powers"),
    "python_sum": ("tl.store(x, sum(tl.load(x + tl.arange(0, BLOCK))))", "this is tl.sum"),
    "python_abs": ("tl.store(x, abs(tl.load(x)))", "this is tl.abs"),
    "bare_load": ("tl.store(x, load(x))", "this is tl.load"),
    "python_max": ("tl.store(x, max(tl.load(x + tl.arange(0, BLOCK))))", "tl.max(x, axis=0)"),
    "floor_of_floats": ("tl.store(x, tl.load(x) // 2.0)", "divide floats with /"),
    "or_of_floats": ("tl.store(x, tl.load(x) | tl.load(x + 1))", "take integers alone"),
    "tanh": ("tl.store(x, tl.tanh(tl.load(x)))", "2 * tl.sigmoid(2 * x) - 1"),
    "mean": ("tl.store(x, tl.mean(tl.load(x + tl.arange(0, BLOCK))))", "tl.sum(x, axis=0) / n"),
    "mean_of_a_block": ("tl.store(x, tl.load(x + tl.arange(0, BLOCK)).mean())", "tl.sum(x, axis=0) / n"),
    "method_of_torch": ("tl.store(x, tl.load(x).sigmoidal())", "A block has no sigmoidal"),
    "at_sign": ("tl.store(x, tl.load(x) @ tl.load(x))", "tl.dot(a, b)"),
    "matmul": ("tl.store(x, tl.matmul(tl.load(x), tl.load(x)))", "tl.dot(a, b)"),
    "thread": ("tl.store(x + tl.thread_id(0), 1.0)", "no threads of its own"),
    "infinity": ("tl.store(x, -tl.inf)", 'float("inf")'),
    "torch_type": ("tl.store(x, tl.load(x).to(torch.float32))", "such as tl.float32"),
    "torch_type_of_zeros": ("tl.store(x, tl.sum(tl.zeros((BLOCK,), torch.float32)))", "such as tl.float32"),
    # Blocks, loops and lists.
    "a_step": ("tl.store(x + tl.arange(0, BLOCK, 2), 1.0)", "no step"),
    "one_bound": ("tl.store(x + tl.arange(BLOCK), 1.0)", "tl.arange(0, BLOCK)"),
    "no_axis": ("tl.store(x + tl.program_id(), 1.0)", "tl.program_id(0)"),
    "no_value": ("tl.store(x)", "tl.store(pointer, value)"),
    "too_many": ("tl.store(x, tl.cdiv(n, BLOCK, 1, 2))", "more arguments"),
    "range_for_offsets": ("tl.store(x + range(0, 4), 1.0)", "tl.arange(0, BLOCK)"),
    "list_for_offsets": ("tl.store(x + [0, 1], 1.0)", "Blocks are made by the kernel"),
    "loop_over_lanes": (
        "for i in tl.arange(0, BLOCK):\n"
        "    tl.store(x + i, 1.0)",
        "need no loop"),
    "range_of_a_block": (
        "for i in range(tl.arange(0, BLOCK)):\n"
        "    tl.store(x + i, 1.0)",
        "need no loop"),
    "divided_range": (
        "for i in range(n / BLOCK):\n"
        "    tl.store(x + i, 1.0)",
        "tl.cdiv(n, BLOCK)"),
    "appended": (
        "values = []\n"
        "values.append(tl.load(x))",
        "no lists"),
    "without_end": (
        "while True:\n"
        "    tl.store(x, 1.0)",
        "`while True` never ends"),
    "formatted": ("print(f'{tl.load(x)}')", "tl.device_print"),
    "no_start": (
        "for i in range(n):\n"
        "    total += tl.load(x + i)\n"
        "tl.store(x, total)",
        "total has no value before this line"),
    "returns_nothing": ("tl.store(x, tl.load(x) + tl.device_print('x'))", "lack its `return`"),
    # Pointers, sizes and functions.
    "mask_of_offsets": ("tl.store(x + tl.arange(0, BLOCK), 1.0, mask=tl.arange(0, BLOCK))", "mask=offsets < n"),
    "pointer_as_a_value": ("tl.store(x, -x)", "tl.load what lies there"),
    "pointer_as_a_size": ("tl.store(x + tl.arange(0, BLOCK), 1.0, mask=tl.arange(0, BLOCK) < x)", "Only offsets can"),
    "times_a_float": ("tl.store(x, x * 2.0)", "A pointer and a float"),
    "value_first": ("tl.store(tl.load(x), x)", "need a pointer first"),
    "its_shape": ("tl.store(x, x.shape[0])", "A kernel sees addresses"),
    "its_length": ("tl.store(x, len(x))", "A kernel sees addresses"),
    "block_as_a_tensor": ("tl.store(x, BLOCK.to(tl.float32))", "BLOCK is a constant"),
    "nested": (
        "def inner(value):\n"
        "    return value\n"
        "tl.store(x, inner(1.0))",
        "define this one above it"),
    "dim_for_axis": ("tl.store(x, tl.sum(tl.load(x + tl.arange(0, BLOCK)), dim=0))", "sum has no parameter dim"),
    "dot_of_two_types": (
        "at = x + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]\n"
        "tl.store(at, tl.dot(tl.load(at), tl.load(at).to(tl.float16)))",
        "two blocks of one type"),
    "moving_bounds": ("tl.store(x + tl.arange(n, n + 64), 1.0)", "start + tl.arange(0, BLOCK)"),
    "cdiv_of_the_host": ("tl.store(x, triton.cdiv(n, BLOCK))", "in a kernel write tl.cdiv"),
    "power_of_the_host": ("tl.store(x, triton.next_power_of_2(n))", "work it out there"),
    "wide_factor": ("tl.store(x, tl.load(x).to(tl.uint8) * 256)", "A result computed from uint8 is again uint8"),
}


def made(folder: Path) -> dict[str, Any]:
    """The kernels, from a file: Triton reads their source."""
    path = folder / "kernels.py"
    path.write_text(BEGIN + "".join(f"@triton.jit\ndef {name}(x, n, BLOCK: tl.constexpr):\n{indent(body, '    ')}\n"
                                    for name, (body, _) in KERNELS.items()))
    return runpy.run_path(str(path))
