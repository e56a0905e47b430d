"""Compiler: makes machine code of a plan's kernels with NVIDIA's assembler, ptxas. The process needs no GPU, and never
sees a submission's file.

Each kernel gets a process of the assembler: if a hostile text crashes it, the others go on.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from grader.languages.cuda import toolkit
from grader.languages.cuda.confined.compiler import assembler
from grader.languages.cuda.confined.compiler.assembler import MOST_MESSAGE, AssemblerError, assembled, at_once
from grader.languages.cuda.text import canonical, own_shared, read_kernel
from grader.plan import compiling, messages
from grader.plan.compiled import Binary, Fits, Metadata, PlainArgument, Problem
from grader.plan.device import with_features
from grader.plan.plan import Kernel, Malformed

STARTS_PROGRAMS = True
"""A request for leave to start programs, as the assembler is one."""

MOST_STATIC = 48 << 10
"""The most shared memory that a kernel may declare, in bytes; for more a launch has to ask."""

# The limit of processor time holds for the assembler alone: SIGXCPU ends it there.
_LIMITED = ("/bin/sh", "-c", 'ulimit -S -t "$1" && shift && exec "$@"', "sh")
_TOO_MUCH_SHARED = re.compile(r"uses too much shared data \((0x[0-9a-f]{1,12}) bytes")
_TOO_SLOW = Problem(why="too_slow", message="the assembler takes too long: is a loop unrolled very often?")
_OUT_OF_TIME = Problem(why="out_of_time", message="the submission's kernels take the assembler too long in all")


def prepare() -> None:
    """Find the assembler once, so that no worker has to look for it."""
    toolkit.assembler()


def _compiled(wanted: messages.Kernels, request: compiling.Compile) -> Iterator[str]:
    until = time.monotonic() + request.in_all
    with ThreadPoolExecutor(at_once()) as pool:
        outcomes = pool.map(lambda kernel: compile_kernel(
            kernel, request.target, request.seconds, until, text=request.ptx), wanted.kernels)
    return (outcome.model_dump_json() for outcome in (*outcomes, *map(fit_kernel, wanted.fitting)))


serve = partial(assembler.serve, canonical=lambda texts, target: list(map(canonical, texts)), compiled=_compiled)


def compile_kernel(
    kernel: Kernel, target: str, seconds: int, until: float, *, text: bool = False,
) -> Binary | Problem:
    """Return machine code of a kernel for a target such as `sm_90`, with its PTX if `text`. The assembler may take
    `seconds` of processor time, and has to end by the time `until` of the monotonic clock."""
    if not (ptxas := toolkit.assembler()):
        return Problem(why="compiler", message=toolkit.problem())
    if time.monotonic() >= until:
        return _OUT_OF_TIME
    metadata = Metadata(name=kernel.symbol, shared=0, operands=[
        PlainArgument(argument=number) for number in range(len(kernel.signature))])
    try:
        read_kernel(kernel)
        # For a target such as `sm_90a` the assembler lets a kernel declare more, but no launch of it succeeds.
        if (shared := own_shared(kernel.text)) > MOST_STATIC:
            return _too_much_shared(shared)
        return assembled([*_LIMITED, str(seconds), ptxas], canonical(kernel.text), with_features(target), metadata,
                         seconds=until - time.monotonic(), text=text)
    except Malformed as error:
        return Problem(why="malformed", message=str(error))
    except TimeoutError:
        return _OUT_OF_TIME
    except AssemblerError as error:
        return _refused(error)


def fit_kernel(kernel: Kernel) -> Fits | Problem:
    """Return whether a kernel declares at most MOST_STATIC bytes of shared memory. A launch says what it asks for
    beside that."""
    try:
        read_kernel(kernel)
        shared = own_shared(kernel.text)
    except Malformed as error:
        return Problem(why="malformed", message=str(error))
    return Fits(shared=shared) if shared <= MOST_STATIC else _too_much_shared(shared)


def _refused(error: AssemblerError) -> Problem:
    if error.status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        return _TOO_SLOW
    if error.status < 0:
        return Problem(why="crash", message=f"the assembler was ended by {signal.Signals(-error.status).name}")
    if match := _TOO_MUCH_SHARED.search(str(error)):
        return _too_much_shared(int(match[1], 16))
    return Problem(why="assembler", message=str(error)[:MOST_MESSAGE])


def _too_much_shared(shared: int) -> Problem:
    return Problem(why="shared_memory", shared=shared, message=(
        f"a block declares {shared:,} bytes of shared memory; {MOST_STATIC:,} at most"))

