"""The process that compiles kernels of plans. It needs no GPU, and it never sees a submission's file.

A kernel's text is hostile, and Triton's compiler ends its process on input that it does not expect. So children
compile: if a child dies, another child goes on with the next kernel.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from grader.languages.cuda import text as machine
from grader.languages.cuda.confined.compiler import assembler
from grader.languages.cuda.confined.compiler.assembler import MOST_MESSAGE, AssemblerError, assembled, at_once
from grader.languages.triton.confined import api
from grader.languages.triton.confined.compiler.machine_code import Stages, canonical, to_ptx
from grader.languages.triton.options import WARP, options_of
from grader.languages.triton.text import read_kernel
from grader.plan import compiling, forks, messages
from grader.plan.compiled import Binary, Fits, Metadata, PlainArgument, Problem
from grader.plan.device import TARGETS
from grader.plan.plan import Kernel, Malformed

STARTS_PROGRAMS = True
"""A permission for this process to start programs: Triton's compiler calls an assembler, which is a program."""

_FAILED = "Failures have been detected while processing an MLIR pass pipeline"
# A kernel with more elements of a tensor for each thread is compiled to machine code, to see whether that works.
MOST_FOR_A_THREAD = 128
# The most elements of a tensor that fits into any target's shared memory: a change of layout has two tensors there at a
# time, of 64 bits an element. A product may not fit, since it keeps several stages there.
FITS_ANYWHERE = 8192
_PRODUCT = re.compile(r"tt\.(?:dot|descriptor)")
_TENSOR = re.compile(r"tensor<(\d{1,9}(?:x\d{1,9}){0,7})x")
_TOO_SLOW = Problem(why="too_slow", message="the compiler takes too long: is a block of the kernel very large?")
_OUT_OF_TIME = Problem(why="out_of_time", message="the submission's kernels take the compiler too long in all")
_WARM_UP = """module {
  tt.func public @warm_up(%x: !tt.ptr<f32>) {
    %lanes = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %at = tt.addptr %base, %lanes : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %value = tt.load %at : tensor<128x!tt.ptr<f32>>
    tt.store %at, %value : tensor<128x!tt.ptr<f32>>
    tt.return
  }
}
"""


@dataclass
class _TooMuchShared(Exception):
    """An error: a program needs `shared` bytes of shared memory, more than the target has."""

    shared: int
    message: str


def prepare() -> None:
    """Compile a small kernel to PTX, for which Triton asks for the assembler's version once, and compute its shared
    memory. A change in a version of Triton is found here, before a submission's kernel is compiled."""
    (text,) = canonical([_WARM_UP], 90)
    kernel = Kernel(language="triton", name="warm_up", symbol="warm_up", text=text, signature=["*fp32"])
    to_ptx(kernel, 90)
    stages = Stages(kernel, 90)
    stages.run("ttir", "ttgir")
    stages.shared_memory()


def _canonical(texts: Sequence[str], target: str) -> list[str]:
    return canonical(texts, _capability(target))


def _compiled(wanted: messages.Kernels, request: compiling.Compile) -> list[str]:
    return compile_kernels(wanted.kernels, request.target, request.seconds, at_once(), in_all=request.in_all,
                           text=request.ptx, fitting=wanted.fitting)


serve = partial(assembler.serve, canonical=_canonical, compiled=_compiled)


def _capability(target: str) -> int:
    return int(target.removeprefix("sm_"))


def compile_kernel(kernel: Kernel, target: str, *, text: bool = False) -> Binary | Problem:
    """Return machine code for a target such as `sm_90`, with its PTX if the `text` is wanted. Diagnostics of Triton's
    compiler go to stderr."""
    capability = _capability(target)
    try:
        if kernel.language == "cuda":
            # Gluon's kernels are PTX. A launch says how much shared memory it asks for.
            machine.read_kernel(kernel)
            ptx, fusion = kernel.text, True
            metadata = Metadata(name=kernel.symbol, shared=0, operands=[
                PlainArgument(argument=number) for number in range(len(kernel.signature))])
        else:
            read_kernel(kernel)
            ptx, metadata = to_ptx(kernel, capability)
            fusion = options_of(kernel).enable_fp_fusion
        _check_shared(metadata.shared, target)
        ptxas, name = api.assembler(capability)
        return assembled([ptxas, *(() if fusion else ("--fmad=false",))], ptx, name, metadata, text=text)
    except Exception as error:
        return _problem(error)


def fit_kernel(kernel: Kernel, target: str) -> Fits | Problem:
    """Return whether the target can start a kernel. A kernel with small tensors and no products is not compiled at all.
    A kernel with many elements for each thread is compiled to machine code, since the compiler may give up on it."""
    largest = max((prod(map(int, sizes.split("x"))) for sizes in set(_TENSOR.findall(kernel.text))), default=1)
    if kernel.language == "cuda" or (largest <= FITS_ANYWHERE and not _PRODUCT.search(kernel.text)):
        return Fits(shared=0)
    try:
        read_kernel(kernel)
        if largest > MOST_FOR_A_THREAD * WARP * options_of(kernel).num_warps:
            made = compile_kernel(kernel, target)
            return made if isinstance(made, Problem) else Fits(shared=made.facts.shared)
        stages = Stages(kernel, _capability(target))
        stages.run("ttir", "ttgir")
        shared = stages.shared_memory()
        _check_shared(shared, target)
    except Exception as error:
        return _problem(error)
    return Fits(shared=shared)


def _check_shared(shared: int, target: str) -> None:
    most = TARGETS[target].shared_memory_per_block_optin if target in TARGETS else shared
    if shared > most:
        raise _TooMuchShared(shared, f"out of shared memory: a program needs {shared:,} bytes, {target} has {most:,}")


def _problem(error: Exception) -> Problem:
    match error:
        case Malformed():
            return Problem(why="malformed", message=str(error))
        case AssemblerError(status=status):
            return _TOO_SLOW if status == -signal.SIGXCPU else Problem(
                why="assembler", message=str(error)[:MOST_MESSAGE])
        case _TooMuchShared(shared=shared, message=message):
            return Problem(why="shared_memory", message=message, shared=shared)
    # Triton documents none of its exceptions.
    return Problem(why="compiler", message=f"{type(error).__name__}: {error}"[:MOST_MESSAGE])


def compile_kernels(
    kernels: Sequence[Kernel], target: str, seconds: int, at_once: int = 1, *, in_all: float, text: bool = False,
    fitting: Sequence[Kernel] = (),
) -> list[str]:
    """Return a `Binary` or a `Problem` for each kernel, then a `Fits` or a `Problem` for each of `fitting`, all as
    JSON. Each kernel has `seconds` of processor time, all together have `in_all` seconds of the clock; `at_once`
    children share the kernels."""
    until = time.monotonic() + in_all
    wanted: list[Callable[[], Binary | Fits | Problem]] = [
        *(partial(compile_kernel, kernel, target, text=text) for kernel in kernels),
        *(partial(fit_kernel, kernel, target) for kernel in fitting)]
    shares: list[list[int]] = [[] for _ in range(at_once)]
    loads = [0] * at_once
    for number in range(len(wanted)):
        # Machine code takes some ten times as long as the check whether a kernel fits.
        least = loads.index(min(loads))
        shares[least].append(number)
        loads[least] += 10 if number < len(kernels) else 1
    outcomes = forks.outcomes(
        [partial(_outcome, kernel, seconds, until) for kernel in wanted], shares, _ended_child, until)
    return [_with_clusters(outcomes.get(number, _OUT_OF_TIME.model_dump_json()), kernel)
            for number, kernel in enumerate((*kernels, *fitting))]


def _outcome(work: Callable[[], Binary | Fits | Problem], seconds: int, until: float) -> str:
    """Return a result as JSON, in a child. A timer of the child's own ends it, since no confined process may end
    another; its assembler ends with the request."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, until - time.monotonic()))
    _limit(seconds)
    outcome = work()
    if isinstance(outcome, Problem) and outcome.why == "compiler":
        outcome = explained(outcome, forks.printed())
    return outcome.model_dump_json()


def _ended_child(status: int, printed: str) -> str:
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    problem = {int(signal.SIGXCPU): _TOO_SLOW, int(signal.SIGALRM): _OUT_OF_TIME}.get(number)
    if problem is None:
        cause, last = signal.Signals(number).name if number else "itself", printed.strip().rpartition("\n")[2]
        problem = Problem(why="crash", message=f"the compiler was ended by {cause}: {last[:500]}")
    return problem.model_dump_json()


def _with_clusters(outcome: str, kernel: Kernel) -> str:
    """Return the outcome. If the compiler refuses a kernel with clusters, or crashes on it, the message names
    `num_ctas`, which may be the reason."""
    clusters = kernel.options.get("num_ctas", 1)
    if clusters == 1 or not outcome.startswith(('{"why":"crash"', '{"why":"compiler"')):
        return outcome
    problem = Problem.model_validate_json(outcome)
    message = f"with num_ctas={clusters}: {problem.message}"[:MOST_MESSAGE]
    return problem.model_copy(update={"message": message}).model_dump_json()


def _limit(seconds: int) -> None:
    """Give this process, and each program that it starts, `seconds` more of processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def explained(problem: Problem, printed: str) -> Problem:
    """Return a problem with the errors that Triton's compiler printed, and the line of the first that has one."""
    lines, errors = [], dict[str, None]()
    for text in printed.split("\n"):
        # `/path/to/silu.py:12:8: error: …`, `loc("kernel.ttir":1:85): error: …`, `<unknown>:0: error: …`
        place, separator, error = text.partition(": error: ")
        file, *numbers = place.removesuffix(")").rsplit(":", 2)
        of_a_text = len(numbers) == 2 or file == "<unknown>"
        if not separator or not of_a_text or not all(number.isdecimal() and len(number) < 8 for number in numbers):
            continue
        if error != _FAILED:
            errors[error] = None
        lines.append(int(numbers[0]) if file != "<unknown>" else 0)
    line = next(filter(None, lines), 0)
    message = f"{problem.message.rstrip()}\n{chr(10).join(errors)}".strip()
    return problem.model_copy(update={"message": message[:MOST_MESSAGE], "line": line})

