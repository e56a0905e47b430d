"""Plans one launch of a file's formula. Nothing of the file is run."""

import os
from functools import partial
from math import prod

from grader.plan import serving
from grader.plan.messages import PLANNER_REQUEST, Failed, GivenTensor, Load, Loaded, PlanCall, Planned
from grader.plan.plan import ITEM_BYTES, Argument, Buffer, Float, Kernel, Launch, Malformed, Plan, Pointer, write_plan

from ... import read, value


def _answer(texts: list[str], request: Load | PlanCall, files: list[int]) -> Loaded | Failed | Planned:
    if isinstance(request, PlanCall):
        return Planned(seq=request.seq, bytes=os.pwrite(files[0], write_plan(_plan(request, texts[0])), 0))
    texts.append(serving.contents(files[0]).decode(errors="replace"))
    try:
        name, parameters, formula = read(texts[0])
        value(formula, dict.fromkeys(parameters, 0.5))
    except (Malformed, ValueError, IndexError) as error:
        return Failed(seq=request.seq, failure="syntax_error", message=str(error), line=1)
    right = (name, parameters) == (request.function, [one.name for one in request.given])
    return Loaded(seq=request.seq) if right else Failed(
        seq=request.seq, failure="wrong_signature", message=texts[0][:100], line=1)


def _plan(request: PlanCall, text: str) -> Plan:
    tensors = [one for one in request.given if isinstance(one, GivenTensor)]
    arguments: list[Argument] = [
        Pointer(buffer=tensors.index(one)) if isinstance(one, GivenTensor) else Float(value=one.value)
        for one in request.given]
    kernel = Kernel(language="toy", name=read(text)[0], symbol="toy", text=text, signature=[a.kind for a in arguments])
    grid = -(-prod(tensors[-1].shape) // 128), 1, 1
    return Plan(kernels=[kernel], first=[Launch(kernel=0, grid=grid, block=(128, 1, 1), arguments=arguments)],
                buffers=[Buffer(bytes=prod(one.shape) * ITEM_BYTES[one.dtype], given=one.name) for one in tensors])


serve = partial(serving.serve, requests=PLANNER_REQUEST, answer=partial(_answer, []))
