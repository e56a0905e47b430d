"""The files of a new assignment: a small one that works, for the author to change."""

from __future__ import annotations

import importlib.util
import keyword
import re
from collections.abc import Iterator
from pathlib import Path

from grader import home
from grader.authoring import handout
from grader.course import catalogue
from grader.course.course import read_course
from grader.errors import UserError

_ASSIGNMENT = "assignments/NAME/assignment.py"
FILES = {
    _ASSIGNMENT: '''"""NAME: what one learns from it, in a line."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from grader.kit.author import (
    EPS32, Baseline, Case, Distribution, Input, Inputs, Output, Spread, assignment, cases, mistakes, timed)


def oracle(x: Tensor) -> Tensor:
    """The right answer in float64, of x's shape (M, N)."""
    return 2 * x.double() + 1


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Random numbers, each row with a scale and an offset of its own."""
    return {"x": Spread(scale=(0.1, 10.0), offset=2.0)}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element: two roundings, of numbers up to |2 x| + 1."""
    allowed: Tensor = EPS32 * (2 * inputs["x"].double().abs() + 1)
    return allowed


ASSIGNMENT = assignment(
    name="NAME",
    title="TITLE",
    formula="out = 2 x + 1",
    order=100,
    parameters=(Input(name="x", shape=("M", "N")), Output(shape=("M", "N"))),
    oracle=oracle,
    cases=cases("M N", "1x1 5x9 1x1009 64x64 420x503", gpu="8192x8192"),
    timed=timed("M N", "8192x8192 4096x4096 2048x2048", "16384x4096 8192x2048 4096x1024"),
    baseline=Baseline(name="torch.add", compiled="torch.compile of the same"),
    distributions=distributions,
    tolerance=tolerance,
    rows="x",
    mistakes=mistakes(
        ("no offset", "This is 2 x: the 1 is missing.", lambda x: 2 * x.double()),
        ("offset first", "This is 2 (x + 1): the 1 is added after the product.", lambda x: 2 * (x.double() + 1)),
    ),
)
''',
    "assignments/NAME/baseline.py": '''"""TITLE by PyTorch: the best way that a PyTorch user would write it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor


def eager(x: Tensor, out: Tensor) -> None:
    torch.add(torch.ones((), device=x.device), x, alpha=2, out=out)


def _formula(x: Tensor, out: Tensor) -> None:
    out.copy_(2 * x + 1)


@cache
def _fused() -> Callable[..., None]:
    # Late: torch.compile imports for seconds.
    return torch.compile(_formula, dynamic=False)


def compiled(x: Tensor, out: Tensor) -> None:
    _fused()(x, out)
''',
    "assignments/NAME/handout.md": '''# TITLE

<!-- task: -->
<!-- end -->

Say what is to be learned.

## Which program does what
Say how the work is cut into programs, with a small example.

## What is checked
<!-- checks: -->
<!-- end -->

Say what is hard about these sizes and values, and how near an answer must come.

## What you may use
<!-- allowed: -->
<!-- end -->

Say what of Triton is fine here, and what of PyTorch is tempting and refused.

## Common mistakes
Say what goes wrong most often, and what to do instead.

## Points and speed
<!-- points: -->
<!-- end -->

Say what the baseline does, what bounds a good kernel, and what helps.
''',
    "student_template/NAME.py": '''"""TITLE: out = 2 x + 1. What is asked: assignments/NAME/handout.md."""

import torch
import triton
import triton.language as tl


@triton.jit
def NAME_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass


def NAME(x: torch.Tensor, out: torch.Tensor) -> None:
    """Writes 2 x + 1 of a matrix x (M, N) into out."""
    raise NotImplementedError("NAME: not written yet")
''',
    "reference/NAME.py": '''"""TITLE: out = 2 x + 1, element by element.

Bytes that must move: 4·M·N read and 4·M·N written.
"""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def NAME_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, 2 * x + 1, mask=offsets < n)


def NAME(x: torch.Tensor, out: torch.Tensor) -> None:
    """Writes 2 x + 1 of a matrix x (M, N) into out."""
    n = x.numel()
    NAME_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
''',
}

FORM = '    forms={"cuda": "NAME(input=x, output=out, n=M*N)"},\n'
IN_CUDA = {
    "student_template/cuda/NAME.cu": '''// TITLE: output = 2 input + 1, element by element.
//
// input, output: n floats on the device, any n from 1 on. Write into output, which arrives full of NaN; leave input
// alone.

#include <cuda_runtime.h>

__global__ void NAME_kernel(const float *input, float *output, int n)
{
}

void NAME(float *input, float *output, int n)
{
    // not written yet: NAME
}
''',
    "reference/cuda/NAME.cu": '''// TITLE: output = 2 input + 1, element by element.
//
// Bytes that must move: 4·n read and 4·n written.

#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void NAME_kernel(const float *input, float *output, int n)
{
    const long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x;
    if (i < n)
        output[i] = 2.0f * input[i] + 1.0f;
}

void NAME(float *input, float *output, int n)
{
    NAME_kernel<<<(n - 1) / THREADS + 1, THREADS>>>(input, output, n);
}
''',
}

PLACEHOLDERS = (
    "what one learns from it, in a line",
    *(line for line in FILES["assignments/NAME/handout.md"].splitlines() if line.startswith("Say ")))
"""Words of the template that the author has to replace."""


def placeholders(*paths: Path) -> Iterator[str]:
    """Yield a sentence for each word of the template that these files of an assignment still hold. Raises OSError."""
    for path in paths:
        text = path.read_text(encoding="utf-8")
        yield from (f"{path}: {left!r} is the template's; write yours" for left in PLACEHOLDERS if left in text)


def write(name: str, root: Path) -> list[Path]:
    """Write the files of a new assignment under `root`, and return their paths. If the course names CUDA C++ as a
    language, write its files, too. Raises OSError, and UserError, also if the name cannot be used or a file
    exists."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserError(f"{name!r}: not a function's name; use small letters, digits and _")
    # A student's file of the same name would hide an installed module from the files beside it.
    if importlib.util.find_spec(name) is not None:
        raise UserError(f"{name!r}: is a Python module; choose another name")
    course = read_course(home.file(), frozenset({*catalogue.files(), name}))
    files = dict(FILES)
    if "cuda" in course.languages:
        files[_ASSIGNMENT] = FILES[_ASSIGNMENT].replace("    order=", f"{FORM}    order=")
        files |= IN_CUDA
    made = {root / path.replace("NAME", name): text for path, text in files.items()}
    if existing := [path for path in made if path.exists()]:
        raise UserError(f"{existing[0]}: already exists; choose another name")
    title = name.replace("_", " ").capitalize()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("NAME", name).replace("TITLE", title), encoding="utf-8")
    drawn = handout.parts(catalogue.read(root / "assignments" / name / "assignment.py"), course)
    handout.draw(handout.handout(name, root), drawn)
    return list(made)
