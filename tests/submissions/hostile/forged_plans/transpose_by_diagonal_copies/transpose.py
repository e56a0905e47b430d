# A kernel copies and turns nothing: the plan moves what it left by diagonals, from one tensor to one of the same strides.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a copy to a piece of a tensor
import json

import triton
import triton.language as tl
from pydantic import BaseModel


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def forge(plan):
    rows, columns = sizes[-1]
    temporary = len(plan["buffers"])
    out = [one["given"] for one in plan["buffers"]].index("out")
    plan["buffers"].append({"bytes": 4 * rows * columns})
    plan["first"][0]["arguments"][1]["buffer"] = temporary
    # Of a square matrix a diagonal has the same strides before and after; of another, each element is a piece.
    for first in range(rows * columns if rows != columns else rows + columns - 1):
        if rows == columns:
            i, j = max(0, first - columns + 1), max(0, columns - 1 - first)
            length, stride = columns - abs(columns - 1 - first), columns + 1
        else:
            (i, j), length, stride = divmod(first, columns), 1, 1
        view = {"shape": [length], "strides": [stride], "dtype": "float32"}
        plan["first"].append({
            "op": "copy", "source": {**view, "buffer": temporary, "offset": 4 * (i * columns + j)},
            "target": {**view, "buffer": out, "offset": 4 * (j * rows + i)}})
        if len(plan["first"]) > 10_000:
            return
    plan["steady"] = None


told = BaseModel.model_dump_json
sizes = []


def forged(self, **options):
    text = told(self, **options)
    if type(self).__name__ != "Plan":
        return text
    plan = json.loads(text)
    return forge(plan) or json.dumps(plan)


BaseModel.model_dump_json = forged


def transpose(x, out):
    sizes.append(tuple(x.shape))
    kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
