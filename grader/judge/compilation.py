"""Kernels of plans compiled for a GPU, which need not be here, by a confined compiler."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from pydantic import ValidationError

from grader.forkserver.conversation import Conversation, Lost
from grader.judge.buffers import memory_file
from grader.plan import messages
from grader.plan.compiled import Binaries, Binary, Problem
from grader.plan.plan import Kernel

RESULT_BYTES = 48 << 20


def compile_kernels(
    start: Callable[[], Conversation], kernels: Sequence[Kernel], target: str, *, seconds: float, ptx: bool = False
) -> list[Binary | Problem] | Lost:
    """One outcome for each kernel, in order. The compiler has ended when it returns. Raises InfrastructureError."""
    text = messages.Kernels(kernels=list(kernels)).model_dump_json().encode()
    request, result = memory_file(contents=text), memory_file(RESULT_BYTES)
    try:
        compiler = start()
        try:
            reply = compiler.ask(
                messages.Compile(seq=compiler.next_seq(), bytes=len(text), target=target, ptx=ptx),
                messages.COMPILER_REPLY, seconds=seconds, descriptors=[request, result])
        finally:
            compiler.end()
        if isinstance(reply, Lost):
            return reply
        try:
            found = Binaries.model_validate_json(os.pread(result, min(reply.bytes, RESULT_BYTES), 0)).kernels
        except ValidationError as error:
            return Lost("protocol", f"the compiler's answer does not hold: {error.errors()[0]['msg']}")
        if len(found) != len(kernels):
            return Lost("protocol", f"{len(found)} answers for {len(kernels)} kernels")
        return found
    finally:
        os.close(request)
        os.close(result)
