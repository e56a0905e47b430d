"""Messages of Python, Numba's compiler and the GPU's driver, and what to do about each."""

from __future__ import annotations

import re

from grader.languages.cuda.phrases import PHRASES as CUDA
from grader.languages.numba.phrases.words import worded
from grader.languages.phrases import Clue, Failing, Failures
from grader.languages.triton.phrases.failures import FAILURES as TRITON

COMPILING: frozenset[Failing] = frozenset({"compile_error"})
_FOREIGN = re.compile(r"\btl\.|[Tt]riton|num_warps|constexpr|\(programs|CompiledKernel|<lambda>")
_SHARED = ("Use smaller shared arrays. A kernel declares at most 48 KiB of shared memory: cuda.shared.array(0, dtype) "
           "has as many bytes as the fourth value of the launch says.")
_PLAIN = "A kernel knows numbers, tuples, arrays, the functions of math, and what numba.cuda has."

_MESSAGES = (
    (r"a block of .* threads; 1 to \d+ expected",
     "Launch fewer threads in a block and more blocks: threads = 256, blocks = (n + threads - 1) // threads."),
    (r"takes \d+ values, 9 for a matrix", ""),
    (r"lies in the host's", "Copy what is needed with cuda.to_device first, a view such as matrix[:, 0]."),
    (r"'function' object is not subscriptable", "Only a function with @cuda.jit above it is launched with "
                                                "[blocks, threads]."),
    (r"(?:griddim|blockdim) must be a sequence", "A number of blocks or threads is a whole one: divide with //, not "
                                                "with /."),
    (r"module 'math' has no attribute '(?P<name>\w+)'",
     "math.{name} is none of the functions that a kernel has: build it from math.exp, math.log and arithmetic."),
    (r"Cannot determine Numba type of <class '(?P<name>[\w.]+)'>",
     "A kernel takes arrays, tuples and numbers, and is given a {name}: pass what it needs of it one by one."),
    (r"CUDA kernel must have void return type",
     "A kernel returns nothing: store to an array that is passed to it. A function with device=True may return."),
    (r"must specify at least the griddim|launch configuration was not specified",
     "A kernel is launched as kernel[blocks, threads](arguments)."),
    (r"missing a required argument|Signature mismatch|expected \d+ arguments?|too many (?:positional )?arguments",
     "Pass as many arguments as the kernel has parameters, in their order."),
)

_OBJECTIONS = (
    Clue("Give it a value of one type in every branch, and before a loop: float32(0) rather than 0.",
         message=r" in one place and .* in another", kinds=COMPILING),
    Clue("NumPy's functions on whole arrays are not for kernels: each thread computes one element, with the functions "
         "of math.", line=r".*\bnp\.", kinds=COMPILING),
    Clue("torch is for host code: a kernel computes with the functions of math.", message=r"\btorch\b",
         kinds=COMPILING),
    Clue("The sizes of shared and local arrays are constants: a number, or a global variable that holds one; an "
         "expression gets a name first, PITCH = TILE + 1.",
         message=r"cuda\.(?:shared|local)\.array does not take", kinds=COMPILING),
    Clue("An array has as many indices as dimensions, x[i, j] for a matrix and x[i] for a vector, and indices are "
         "whole numbers: divide with //, not with /.", message=r"takes no .*index", kinds=COMPILING),
    Clue("x[i] of a matrix is a whole row: does an index lack a dimension, x[i, j]?",
         message=r"(?:not defined for|does not take) .*\[:", kinds=COMPILING),
    Clue("Put @cuda.jit(device=True) above it.", message=r"is an ordinary function", kinds=COMPILING),
    Clue("Store to an array that is passed to the kernel, out[i] = …; `return` without a value ends a thread.",
         message=r"A kernel returns nothing", kinds=COMPILING),
    Clue("cuda.grid(2) gives two numbers, cuda.grid(1) one; x.shape has as many as x has dimensions.",
         message=r"cannot be unpacked", kinds=COMPILING),
    Clue("In a kernel sizes are x.size and x.shape, and neither lists nor methods of torch are there.",
         message=r"has no attribute", kinds=COMPILING),
    Clue("{name} is no name that the kernel knows: is it misspelt, not imported, or set below the kernel?",
         message=r"NameError: name '(?P<name>\w+)' is not defined", kinds=COMPILING),
    Clue(_PLAIN, kinds=COMPILING),
)

FAILURES = Failures(
    clues=(*(Clue(hint, message) for message, hint in _MESSAGES), *_OBJECTIONS,
           *(clue for clue in TRITON.clues if not _FOREIGN.search(clue.hint + clue.message))),
    absent=tuple(clue for clue in TRITON.absent if not _FOREIGN.search(clue.hint)),
    gave_up={**worded(CUDA.failures.gave_up), "shared_memory": _SHARED},
    unwrap=lambda message: message,
    no_module=lambda name: f"{name[:80]} cannot be imported: each file stands alone, and is graded with numba, torch, "
                           "numpy and einops only. Copy what it needs into it.",
    missing_function=TRITON.missing_function, wrong_signature=TRITON.wrong_signature,
    not_attempted=TRITON.not_attempted, syntax_error=TRITON.syntax_error, import_error=TRITON.import_error,
    compile_error=_PLAIN, exception=TRITON.exception, wrong_memory=TRITON.wrong_memory, aborts=TRITON.aborts,
    ends=TRITON.ends, exits=TRITON.exits)
