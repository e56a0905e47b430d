"""Requests to a confined compiler about plans' kernels: their canonical texts, and machine code for a GPU that need not
be in this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from grader.judging.running.exchange import Start, exchange
from grader.plan import compiling, messages
from grader.plan.compiled import RESULT_BYTES, Binaries, Binary, Fits, Problem
from grader.plan.plan import TEXT_CHARACTERS, Kernel
from grader.sandbox.forkserver.conversation import LostAnswer

# Seconds of a request's time that are reserved for its answer.
ANSWER_SECONDS = 10.0

Answer = TypeVar("Answer", bound=BaseModel)


def canonical_texts(start: Start, texts: Sequence[str], target: str, *, seconds: float) -> list[str] | LostAnswer:
    """Return kernels' texts as their compiler prints what it has parsed; "" for a text that it rejects, or that is too
    long for a plan. The compiler has ended when this returns. Raises InfrastructureError."""
    answer = _answered(start, messages.Texts(texts=list(texts)), lambda size: compiling.Canonicalise(
        seq=0, bytes=size, target=target), messages.Texts, seconds)
    if isinstance(answer, LostAnswer):
        return answer
    if len(answer.texts) != len(texts):
        return LostAnswer("protocol", f"{len(answer.texts)} answers for {len(texts)} texts")
    return [text if len(text) <= TEXT_CHARACTERS else "" for text in answer.texts]


def compile_kernels(
    start: Start, kernels: Sequence[Kernel], target: str, *, seconds: float, ptx: bool = False,
    fitting: Sequence[Kernel] = (),
) -> list[Binary | Fits | Problem] | LostAnswer:
    """Compile kernels and return one outcome for each, in order; then, for each of `fitting`, whether the target can
    start it. The request takes at most `seconds` of wall time; kernels that are not compiled by then are Problems. The
    compiler has ended when this returns. Raises InfrastructureError."""
    answer = _answered(start, messages.Kernels(kernels=list(kernels), fitting=list(fitting)), lambda size: (
        compiling.Compile(seq=0, bytes=size, target=target, ptx=ptx, in_all=max(1.0, seconds - ANSWER_SECONDS))),
        Binaries, seconds)
    if isinstance(answer, LostAnswer):
        return answer
    if len(answer.kernels) != len(kernels) + len(fitting):
        return LostAnswer("protocol", f"{len(answer.kernels)} answers for {len(kernels) + len(fitting)} kernels")
    return answer.kernels


def _answered(
    start: Start, question: BaseModel, request: Callable[[int], compiling.Compile | compiling.Canonicalise],
    shape: type[Answer], seconds: float,
) -> Answer | LostAnswer:
    """Return a compiler's answer to a question, read as `shape`. `request` returns the message for a question of a size
    in bytes."""
    text = question.model_dump_json().encode()
    reply, answer = exchange(start, request(len(text)), compiling.COMPILER_REPLY, [text], RESULT_BYTES, seconds=seconds)
    if isinstance(reply, LostAnswer):
        return reply
    try:
        return shape.model_validate_json(answer)
    except ValidationError as error:
        return LostAnswer("protocol", f"the compiler's answer does not hold: {error.errors()[0]['msg']}")
