"""Toy's machine is its simulator: machine code is the text."""

import base64
import os
from functools import partial

from grader.plan import serving
from grader.plan.compiled import Binaries, Binary, Facts, Fits, Metadata
from grader.plan.compiling import COMPILER_REQUEST, Canonicalise, Compile, Compiled
from grader.plan.messages import Kernels


def _answer(request: Compile | Canonicalise, files: list[int]) -> Compiled:
    made = serving.contents(files[0], request.bytes)
    if isinstance(request, Compile):
        asked, facts = Kernels.model_validate_json(made), Facts(registers=16, spills=0, shared=0)
        code = [Binary(cubin=base64.b64encode(kernel.text.encode()).decode(), facts=facts, metadata=Metadata(
            name="toy", shared=0, operands=[])) for kernel in asked.kernels]
        made = Binaries(kernels=[*code, *(Fits(shared=0) for _ in asked.fitting)]).model_dump_json().encode()
    return Compiled(seq=request.seq, bytes=os.pwrite(files[1], made, 0))


serve = partial(serving.serve, requests=COMPILER_REQUEST, answer=_answer)
