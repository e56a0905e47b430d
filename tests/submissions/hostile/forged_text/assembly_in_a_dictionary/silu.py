# Triton's own wait for an earlier launch, to a reader of text; a dictionary of attributes makes it other assembly.
# verdict: needs_gpu
# expect: inline assembly
# on a gpu: runtime_error, wrong_answer; there it traps
import json

import triton
import triton.language as tl
from pydantic import BaseModel


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.inline_asm_elementwise(
        "griddepcontrol.wait; // dummy $0", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def forge(plan):
    for kernel in plan["kernels"]:
        kernel["text"] = kernel["text"].replace("{constraints =", '{asm_string = "trap; // $0", constraints =')


told = BaseModel.model_dump_json


def forged(self, **options):
    text = told(self, **options)
    if type(self).__name__ != "Plan":
        return text
    plan = json.loads(text)
    return forge(plan) or json.dumps(plan)


BaseModel.model_dump_json = forged


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
