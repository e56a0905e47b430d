"""Compiler: makes machine code of a plan's kernels with NVIDIA's assembler, ptxas. The process needs no GPU, and never
sees a submission's file.

Each kernel gets a process of the assembler: if a hostile text crashes it, the others go on.
"""

from __future__ import annotations

import base64
import mmap
import os
import re
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.languages.cuda.text import canonical, own_shared, read_kernel
from grader.languages.cuda.toolkit import assembler, problem
from grader.plan import children, compiling, frames, messages, serving
from grader.plan.compiled import PTX_CHARACTERS, RESULT_BYTES, Binary, Fits, Metadata, Plain, Problem
from grader.plan.device import with_features
from grader.plan.plan import Kernel, Malformed
from grader.simulation.ptx.facts import read_facts
from grader.simulation.ptx.grammar import without_lines

STARTS_PROGRAMS = True
"""A request for leave to start programs, as the assembler is one."""

MOST_AT_ONCE = 8
MOST_STATIC = 48 << 10
"""The most shared memory that a kernel may declare, in bytes; for more a launch has to ask."""

_MOST_SAID = 8 << 20
_MOST_MESSAGE = 4000
# The limit of processor time holds for the assembler alone: SIGXCPU ends it there.
_LIMITED = ("/bin/sh", "-c", 'ulimit -S -t "$1" && shift && exec "$@"', "sh")
_TOO_MUCH_SHARED = re.compile(r"uses too much shared data \((0x[0-9a-f]{1,12}) bytes")
_TOO_SLOW = Problem(why="too_slow", message="the assembler takes too long: is a loop unrolled very often?")
_NO_TURN = Problem(why="no_turn", message="the submission's kernels take the assembler too long in all")


def prepare() -> None:
    """Find the assembler once, so that no worker has to look for it."""
    assembler()


def serve(channel: frames.Channel) -> None:
    """Answer the judge until it hangs up."""
    serving.serve(channel, compiling.COMPILER_REQUEST, _answer)


def _answer(request: compiling.Compile | compiling.Canonicalise, files: Sequence[int]) -> compiling.Compiled:
    source, target = files
    made = _made(request, serving.contents(source, request.bytes))
    # A mapping is not subject to the limit on sizes of files, which is meant for the assembler's.
    with mmap.mmap(target, 0) as memory:
        memory[: len(made)] = made
    return compiling.Compiled(seq=request.seq, bytes=len(made))


def _made(request: compiling.Compile | compiling.Canonicalise, contents: bytes) -> bytes:
    if isinstance(request, compiling.Canonicalise):
        texts = messages.Texts.model_validate_json(contents).texts
        return messages.Texts(texts=list(map(canonical, texts))).model_dump_json().encode()
    wanted = messages.Kernels.model_validate_json(contents)
    until = time.monotonic() + request.in_all
    with ThreadPoolExecutor(max(2, min(MOST_AT_ONCE, len(os.sched_getaffinity(0)) - 2))) as pool:
        outcomes: list[Binary | Fits | Problem] = list(pool.map(
            lambda one: compile_kernel(one, request.target, request.seconds, until, text=request.ptx), wanted.kernels))
    return _joined([*outcomes, *map(fit_kernel, wanted.fitting)])


def compile_kernel(
    kernel: Kernel, target: str, seconds: int, until: float, *, text: bool = False,
) -> Binary | Problem:
    """Return machine code of a kernel for a target such as `sm_90`, with its PTX if `text`. The assembler may take
    `seconds` of processor time, and has to end by the time `until` of the monotonic clock."""
    if not (ptxas := assembler()):
        return Problem(why="compiler", message=problem())
    if time.monotonic() >= until:
        return _NO_TURN
    try:
        read_kernel(kernel)
        # For a target such as `sm_90a` the assembler lets a kernel declare more, but no launch of it succeeds.
        if (shared := own_shared(kernel.text)) > MOST_STATIC:
            return _too_much_shared(shared)
        with TemporaryDirectory() as folder:
            source, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
            source.write_text(without_lines(canonical(kernel.text)), encoding="utf-8")
            ended = children.run(
                [*_LIMITED, str(seconds), ptxas, "-v", f"--gpu-name={with_features(target)}", str(source), "-o",
                 str(result)],
                most=_MOST_SAID, seconds=until - time.monotonic())
            said = ended.errors.decode(errors="replace")
            if ended.status:
                return _refused(ended.status, said, str(source))
            cubin = result.read_bytes()
    except Malformed as error:
        return Problem(why="malformed", message=str(error))
    except TimeoutError:
        return _NO_TURN
    except children.TooMuchError:
        return Problem(why="assembler", message="ptxas has more to say than is read")
    return Binary(
        cubin=base64.b64encode(cubin).decode(), facts=read_facts(kernel.text, said),
        metadata=Metadata(name=kernel.symbol, shared=0, operands=[
            Plain(argument=number) for number in range(len(kernel.signature))]),
        ptx=kernel.text[:PTX_CHARACTERS] if text else "")


def fit_kernel(kernel: Kernel) -> Fits | Problem:
    """Return whether a kernel declares at most MOST_STATIC bytes of shared memory. A launch says what it asks for
    beside that."""
    try:
        read_kernel(kernel)
        shared = own_shared(kernel.text)
    except Malformed as error:
        return Problem(why="malformed", message=str(error))
    return Fits(shared=shared) if shared <= MOST_STATIC else _too_much_shared(shared)


def _refused(status: int, said: str, source: str) -> Problem:
    if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        return _TOO_SLOW
    if status < 0:
        name = signal.Signals(-status).name
        return Problem(why="crash", message=f"the assembler was ended by {name}")
    if found := _TOO_MUCH_SHARED.search(said):
        return _too_much_shared(int(found[1], 16))
    # The assembler's line numbers belong to a text that is never shown.
    lines = [line.partition("; ")[2] if f" {source}, line " in line else line for line in said.split("\n")
             if not line.startswith("ptxas info")]
    return Problem(why="assembler", message="\n".join(lines).strip()[:_MOST_MESSAGE] or f"ptxas ended with {status}")


def _too_much_shared(shared: int) -> Problem:
    return Problem(why="shared_memory", shared=shared, message=(
        f"a block declares {shared:,} bytes of shared memory; {MOST_STATIC:,} at most"))


def _joined(outcomes: Sequence[Binary | Fits | Problem]) -> bytes:
    """Return `Binaries` as JSON of at most RESULT_BYTES; an outcome that no longer fits becomes a problem."""
    room = RESULT_BYTES - 1024
    kept = []
    for outcome in outcomes:
        text = outcome.model_dump_json()
        if len(text) > room:
            text = Problem(why="too_large", message="too much machine code in all").model_dump_json()
        room -= len(text)
        kept.append(text)
    return f'{{"kernels":[{",".join(kept)}]}}'.encode()
