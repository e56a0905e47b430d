# Two blocks that jump to each other.
# verdict: time_limit, runtime_error
# alone on a gpu: its kernel does not end there
import json

import triton
import triton.language as tl
from pydantic import BaseModel


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


ENTRY = "module {\n  tt.func public @silu_kernel(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
TEXT = ENTRY + "    cf.br ^a\n  ^a:\n    cf.br ^b\n"
TEXT += "  ^b:\n    cf.br ^a\n  }\n}\n"


def forge(plan):
    for kernel in plan["kernels"]:
        kernel["text"] = TEXT
        kernel["symbol"] = "silu_kernel"
        kernel["signature"] = ["*fp32", "*fp32", "i32"]


told = BaseModel.model_dump_json


def forged(self, **options):
    text = told(self, **options)
    if type(self).__name__ != "Plan":
        return text
    plan = json.loads(text)
    return forge(plan) or json.dumps(plan)


BaseModel.model_dump_json = forged


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
