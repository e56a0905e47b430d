"""Runs a plan's launches on NumPy, in float32."""

import mmap
import os
from functools import partial

import numpy as np

from grader.plan import serving
from grader.plan.messages import SIMULATOR_REQUEST, Exhausted, Simulate, Simulated
from grader.plan.plan import Float, Launch, Pointer, read_plan

from ... import read, value


def _answer(request: Simulate, files: list[int]) -> Simulated | Exhausted:
    plan = read_plan(serving.contents(files[0], request.bytes))
    if sum(buffer.bytes for buffer in plan.buffers) > request.operations:
        return Exhausted(seq=request.seq, what="operations")
    # That of the last call comes last, and a call of Toy needs no other.
    memory = [np.frombuffer(mmap.mmap(file, os.fstat(file).st_size), np.float32) for file in files[-len(plan.buffers):]]
    for launch in (call for call in plan.calls()[-1] if isinstance(call, Launch)):
        _, names, formula = read(plan.kernels[launch.kernel].text)
        given = dict(zip(names, launch.arguments, strict=True))
        tensors = {name: memory[one.buffer] for name, one in given.items() if isinstance(one, Pointer)}
        numbers = {name: one.value for name, one in given.items() if isinstance(one, Float)}
        tensors[names[-1]][:] = value(formula, tensors | numbers)
    return Simulated(seq=request.seq, findings=[], operations=0)


serve = partial(serving.serve, requests=SIMULATOR_REQUEST, answer=_answer)
