"""Common parts of compilers: the loop that answers the judge, and runs of NVIDIA's assembler, ptxas."""

from __future__ import annotations

import base64
import mmap
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.plan import children, frames, messages, serving
from grader.plan.compiled import PTX_CHARACTERS, RESULT_BYTES, Binary, Metadata, Problem
from grader.plan.compiling import COMPILER_REQUEST, Canonicalise, Compile, Compiled
from grader.simulation.ptx.program import read_facts
from grader.simulation.ptx.reader import without_lines

MOST_MESSAGE = 4000
_MOST_AT_ONCE = 8
# The most bytes that ptxas may print about a kernel; a name in its text may have a megabyte.
_MOST_SAID = 8 << 20


class AssemblerError(Exception):
    """An error: ptxas ended with this status (negative for a signal), 0 for one that printed too much. The text is its
    message."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def serve(
    channel: frames.Channel, canonical: Callable[[Sequence[str], str], list[str]],
    compiled: Callable[[messages.Kernels, Compile], Iterable[str]],
) -> None:
    """Answer the judge until it hangs up. `canonical` returns the printed form of texts, "" for one that a target's
    compiler does not take; `compiled` returns a `Binary`, `Fits` or `Problem` for each kernel of a request, as JSON."""
    def answer(request: Compile | Canonicalise, files: Sequence[int]) -> Compiled:
        contents = serving.contents(files[0], request.bytes)
        if isinstance(request, Compile):
            made = _joined(compiled(messages.Kernels.model_validate_json(contents), request))
        else:
            texts = messages.Texts.model_validate_json(contents).texts
            made = messages.Texts(texts=canonical(texts, request.target)).model_dump_json().encode()
        # A mapping is not subject to the limit on sizes of files, which is meant for the assembler's.
        with mmap.mmap(files[1], 0) as memory:
            memory[: len(made)] = made
        return Compiled(seq=request.seq, bytes=len(made))

    serving.serve(channel, COMPILER_REQUEST, answer)


def at_once() -> int:
    """Return the number of kernels that are compiled at a time."""
    # Two even if a lane has one core of two: a submission alone is done sooner, and a class takes as long.
    return max(2, min(_MOST_AT_ONCE, len(os.sched_getaffinity(0)) - 2))


def assembled(
    ptxas: Sequence[str], ptx: str, target: str, metadata: Metadata, *, seconds: float | None = None, text: bool = False
) -> Binary:
    """Return machine code of PTX and facts about it, with the PTX if `text`. `ptxas` is the start of the assembler's
    command line. Raises AssemblerError if ptxas fails, TimeoutError after `seconds`."""
    with TemporaryDirectory() as folder:
        source, result = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(without_lines(ptx), encoding="utf-8")
        try:
            ended = children.run([*ptxas, "-v", f"--gpu-name={target}", str(source), "-o", str(result)],
                                 most=_MOST_SAID, seconds=seconds)
        except children.TooMuchError:
            raise AssemblerError("ptxas has more to say than is read") from None
        errors = ended.errors.decode(errors="replace")
        if ended.status:
            # Line numbers belong to a text that nobody is shown.
            lines = [line.partition("; ")[2] if f"{source}, line " in line else line for line in errors.split("\n")
                     if not line.startswith("ptxas info")]
            raise AssemblerError("\n".join(lines).strip() or f"ptxas ended with status {ended.status}", ended.status)
        cubin = base64.b64encode(result.read_bytes()).decode()
    return Binary(cubin=cubin, facts=read_facts(ptx, errors, metadata.shared or None), metadata=metadata,
                  ptx=ptx[:PTX_CHARACTERS] if text else "")


def _joined(outcomes: Iterable[str]) -> bytes:
    """Return `Binaries` as JSON of at most RESULT_BYTES; an outcome that no longer fits becomes a problem."""
    room, kept = RESULT_BYTES - 1024, []
    for outcome in outcomes:
        if len(outcome) > room:
            outcome = Problem(why="too_large", message="too much machine code in all").model_dump_json()
        room -= len(outcome)
        kept.append(outcome)
    return f'{{"kernels":[{",".join(kept)}]}}'.encode()

