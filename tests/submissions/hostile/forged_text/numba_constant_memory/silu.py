# Writes a text that loads from memory it does not declare.
# verdict: runtime_error
# expect: its plan does not hold
import json

import math

from numba import cuda, float32


from pydantic import BaseModel


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


told = BaseModel.model_dump_json


def forged(self, **options):
    text = told(self, **options)
    if type(self).__name__ != "Plan":
        return text
    plan = json.loads(text)
    for kernel in plan["kernels"]:
        kernel["text"] = kernel["text"].replace("ld.global", "ld.const")
    return json.dumps(plan)


BaseModel.model_dump_json = forged


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
