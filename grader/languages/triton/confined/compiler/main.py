"""The process that compiles kernels of plans. It needs no GPU, and it never sees a submission's file.

A kernel's text is hostile, and Triton's compiler ends its process on input that it does not expect. So children
compile: if a child dies, another child goes on with the next kernel.
"""

from __future__ import annotations

import base64
import mmap
import os
import re
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from tempfile import TemporaryFile

from grader.languages.cuda import text as machine
from grader.languages.triton.confined.compiler.machine_code import (
    AssemblerError,
    Stages,
    assemble,
    canonical,
    to_ptx,
)
from grader.languages.triton.options import WARP, options_of
from grader.languages.triton.text import read_kernel
from grader.plan import compiling, frames, messages, serving
from grader.plan.compiled import PTX_CHARACTERS, RESULT_BYTES, Binary, Fits, Metadata, Plain, Problem
from grader.plan.device import TARGETS
from grader.plan.plan import Kernel, Malformed
from grader.simulation.ptx.facts import read_facts
from grader.simulation.ptx.grammar import without_lines

STARTS_PROGRAMS = True
"""A permission for this process to start programs: Triton's compiler calls an assembler, which is a program."""

_FAILED = "Failures have been detected while processing an MLIR pass pipeline"
_MOST_PRINTED = 8 << 20
_MOST_MESSAGE = 4000
MOST_AT_ONCE = 8
# A kernel with more elements of a tensor for each thread is compiled to machine code, to see whether that works.
MOST_FOR_A_THREAD = 128
# A tensor with at most so many elements fits into any target's shared memory: a change of layout has two tensors there
# at a time, of 64 bits an element. Products are no such case: they keep several stages there.
FITS_ANYWHERE = 8192
_PRODUCT = re.compile(r"tt\.(?:dot|descriptor)")
_TENSOR = re.compile(r"tensor<(\d{1,9}(?:x\d{1,9}){0,7})x")
_TOO_SLOW = Problem(why="too_slow", message="the compiler takes too long: is a block of the kernel very large?")
_NO_TURN = Problem(why="no_turn", message="the submission's kernels take the compiler too long in all")
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


def serve(channel: frames.Channel) -> None:
    """Answer the judge until it hangs up."""
    serving.serve(channel, compiling.COMPILER_REQUEST, _answer)


def _answer(request: compiling.Compile | compiling.Canonicalise, files: Sequence[int]) -> compiling.Compiled:
    source, target = files
    made = _made(request, serving.contents(source, request.bytes))
    return compiling.Compiled(seq=request.seq, bytes=_write(target, made))


def _made(request: compiling.Compile | compiling.Canonicalise, contents: bytes) -> bytes:
    if isinstance(request, compiling.Canonicalise):
        texts = messages.Texts.model_validate_json(contents).texts
        return messages.Texts(texts=canonical(texts, _capability(request.target))).model_dump_json().encode()
    wanted = messages.Kernels.model_validate_json(contents)
    return _joined(compile_kernels(
        wanted.kernels, request.target, request.seconds, _at_once(), in_all=request.in_all, text=request.ptx,
        fitting=wanted.fitting))


def _capability(target: str) -> int:
    return int(target.removeprefix("sm_"))


def _at_once() -> int:
    # Two even if a lane has one core of two: a submission alone is done sooner, and a class takes as long.
    return max(2, min(MOST_AT_ONCE, len(os.sched_getaffinity(0)) - 2))


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
                Plain(argument=number) for number in range(len(kernel.signature))])
        else:
            read_kernel(kernel)
            ptx, metadata = to_ptx(kernel, capability)
            fusion = options_of(kernel).enable_fp_fusion
        _check_shared(metadata.shared, target)
        plain = without_lines(ptx)
        cubin, said = assemble(plain, capability, fusion=fusion)
    except Exception as error:
        return _problem(error)
    facts = read_facts(ptx, said, metadata.shared)
    return Binary(
        cubin=base64.b64encode(cubin).decode(), facts=facts, metadata=metadata,
        ptx=ptx[:PTX_CHARACTERS] if text else "")


def fit_kernel(kernel: Kernel, target: str) -> Fits | Problem:
    """Return whether the target can start a kernel. A kernel without products whose tensors are small is not compiled
    at all; only a kernel with many elements for each thread, on which the compiler may give up, is compiled to machine
    code."""
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
        case TimeoutError():
            return _TOO_SLOW
        case AssemblerError():
            return Problem(why="assembler", message=str(error)[:_MOST_MESSAGE])
        case _TooMuchShared(shared=shared, message=message):
            return Problem(why="shared_memory", message=message, shared=shared)
    # Triton documents none of its exceptions.
    return Problem(why="compiler", message=f"{type(error).__name__}: {error}"[:_MOST_MESSAGE])


def compile_kernels(
    kernels: Sequence[Kernel], target: str, seconds: int, at_once: int = 1, *, in_all: float, text: bool = False,
    fitting: Sequence[Kernel] = (),
) -> list[str]:
    """Return a `Binary` or a `Problem` for each kernel, then a `Fits` or a `Problem` for each of `fitting`, all as
    JSON. Each kernel has `seconds` of processor time, all together have `in_all` seconds of the clock; `at_once`
    children share the kernels."""
    until = time.monotonic() + in_all
    outcomes: dict[int, str] = {}
    wanted: list[Callable[[], Binary | Fits | Problem]] = [
        *(partial(compile_kernel, one, target, text=text) for one in kernels),
        *(partial(fit_kernel, one, target) for one in fitting)]
    shares: list[list[int]] = [[] for _ in range(at_once)]
    loads = [0] * at_once
    for number in range(len(wanted)):
        # Machine code takes some ten times as long as the check whether a kernel fits.
        least = loads.index(min(loads))
        shares[least].append(number)
        loads[least] += 10 if number < len(kernels) else 1
    while (shares := [share for share in shares if share]) and (left := until - time.monotonic()) > 0:
        children = [_Child([wanted[number] for number in share], seconds, left) for share in shares]
        for share, child in zip(shares, children, strict=True):
            found = child.outcomes()
            outcomes.update(zip(share, found, strict=False))
            # Another child compiles what comes after a kernel that ended its child.
            del share[: len(found)]
    return [_told(outcomes.get(number, _NO_TURN.model_dump_json()), one)
            for number, one in enumerate((*kernels, *fitting))]


def _told(outcome: str, kernel: Kernel) -> str:
    """Return the outcome. If the compiler refuses a kernel with clusters, or crashes on it, the message names
    `num_ctas`, which may be the reason."""
    clusters = kernel.options.get("num_ctas", 1)
    if clusters == 1 or not outcome.startswith(('{"why":"crash"', '{"why":"compiler"')):
        return outcome
    problem = Problem.model_validate_json(outcome)
    said = f"with num_ctas={clusters}: {problem.message}"[:_MOST_MESSAGE]
    return problem.model_copy(update={"message": said}).model_dump_json()


class _Child:
    """A process that compiles kernels one after another, until all are done, a kernel ends it, or `in_all` seconds are
    over."""

    def __init__(
        self, work: Sequence[Callable[[], Binary | Fits | Problem]], seconds: int, in_all: float
    ) -> None:
        self._count = len(work)
        self._printed = TemporaryFile("w+", errors="replace")  # noqa: SIM115 -- closed where outcomes are read
        self._written = TemporaryFile("w+")  # noqa: SIM115
        self._pid = os.fork()
        if self._pid:
            return
        try:
            # The child's own clock ends it, since no confined process may end another. Its assembler ends with the
            # request.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, in_all)
            for standard in (1, 2):
                os.dup2(self._printed.fileno(), standard)
            for one in work:
                os.lseek(2, 0, os.SEEK_SET)
                os.ftruncate(2, 0)
                _limit(seconds)
                outcome = one()
                if isinstance(outcome, Problem) and outcome.why == "compiler":
                    outcome = explained(outcome, _text(2))
                self._written.write(outcome.model_dump_json() + "\n")
                self._written.flush()
        finally:
            os._exit(0)

    def outcomes(self) -> list[str]:
        """Wait for the child's end, and return the outcomes of its kernels, up to the kernel that ended it."""
        _, status = os.waitpid(self._pid, 0)
        with self._written as written, self._printed as printed:
            written.seek(0)
            found = [line for line in written if line.endswith("\n")]
            if len(found) < self._count:
                ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                how = signal.Signals(ended).name if ended else "itself"
                last = _text(printed.fileno()).strip().rpartition("\n")[2]
                died = {int(signal.SIGXCPU): _TOO_SLOW, int(signal.SIGALRM): _NO_TURN}.get(ended) or Problem(
                    why="crash", message=f"the compiler was ended by {how}: {last[:500]}")
                found.append(died.model_dump_json())
        return found


def _limit(seconds: int) -> None:
    """Let this process, and each program that it starts, take `seconds` more of processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _text(descriptor: int) -> str:
    return os.pread(descriptor, _MOST_PRINTED, 0).decode(errors="replace").replace("\0", "")


def explained(problem: Problem, printed: str) -> Problem:
    """Return a problem with the errors that Triton's compiler printed, and the line of the first that has one."""
    lines, said = [], dict[str, None]()
    for text in printed.split("\n"):
        # `/path/to/silu.py:12:8: error: …`, `loc("kernel.ttir":1:85): error: …`, `<unknown>:0: error: …`
        place, found, error = text.partition(": error: ")
        file, *numbers = place.removesuffix(")").rsplit(":", 2)
        of_a_text = len(numbers) == 2 or file == "<unknown>"
        if not found or not of_a_text or not all(number.isdecimal() and len(number) < 8 for number in numbers):
            continue
        if error != _FAILED:
            said[error] = None
        lines.append(int(numbers[0]) if file != "<unknown>" else 0)
    line = next(filter(None, lines), 0)
    message = f"{problem.message.rstrip()}\n{chr(10).join(said)}".strip()
    return problem.model_copy(update={"message": message[:_MOST_MESSAGE], "line": line})


def _joined(outcomes: Sequence[str]) -> bytes:
    """Return `Binaries` as JSON. An outcome for which the memory file has no room becomes a problem."""
    room = RESULT_BYTES - 1024
    kept = []
    for outcome in outcomes:
        room -= len(outcome)
        if room < 0:
            room += len(outcome)
            outcome = Problem(why="too_large", message="too much machine code in all").model_dump_json()
        kept.append(outcome)
    return f'{{"kernels":[{",".join(kept)}]}}'.encode()


def _write(descriptor: int, data: bytes) -> int:
    # Mapped, not written: the process's limit on the size of files is not meant for this memory.
    with mmap.mmap(descriptor, 0) as memory:
        memory[: len(data)] = data
    return len(data)
