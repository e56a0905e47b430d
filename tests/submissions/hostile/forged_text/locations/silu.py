# Stores past the end, at a place whose file is markup and whose line is no line of any file; the name of the
# pointer holds escapes of the terminal.
# verdict: runtime_error
import json

import triton
import triton.language as tl
from pydantic import BaseModel


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def buffer(plan, name):
    """The number of a parameter's buffer."""
    return [one["given"] for one in plan["buffers"]].index(name)


def launches(plan):
    return [one for one in plan["first"] if one["op"] == "launch"]


def forge(plan):
    for kernel in plan["kernels"]:
        lines = kernel["text"].splitlines()
        for number, line in enumerate(lines):
            if line.startswith("#loc"):
                lines[number] = line.split("=")[0] + '= loc("<script>alert(1)</script>\\1B[2J":4294967295:1)'
        kernel["text"] = "\n".join(lines) + "\n"
    for launch in launches(plan):
        launch["grid"][0] += 1
        for argument in launch["arguments"]:
            if argument["kind"] == "integer":
                argument["value"] += 1


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
