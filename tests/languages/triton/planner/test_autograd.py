"""A torch.autograd.Function in place of a function: what it returns and saves are the outputs, and each way of not
being one is an error of one line that ends with what to do."""

from __future__ import annotations

from grader.plan.messages import Failed, Given, GivenScalar, GivenTensor, Loaded, Planned, Refused
from grader.plan.plan import Copy, Fill, Launch, Plan, named
from tests.languages.triton.planner.harness import Planner
from tests.rows import each_row

GIVEN: list[Given] = [
    GivenTensor(name="x", shape=[4, 8], dtype="float16"), GivenScalar(name="scale", value=0.5),
    GivenTensor(name="dout", shape=[4, 8], dtype="float16", gradient_of="out", strides=[1, 4]),
    GivenTensor(name="out", shape=[4, 8], dtype="float16", output=True),
    GivenTensor(name="total", shape=[4], dtype="float32", output=True, saved=True),
    GivenTensor(name="dx", shape=[4, 8], dtype="float16", output=True, gradient_of="x")]
NUMBERS = {one.name: number for number, one in enumerate(
    one for one in GIVEN if isinstance(one, GivenTensor))}
FILE = '''
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(a_ptr, b_ptr, n):
    tl.store(b_ptr, tl.load(a_ptr) + n)

class Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale=1.0):
        out, total = torch.empty_like(x), torch.zeros(4, device=x.device)
        kernel[(1,)](x, out, 1)
        kernel[(1,)](x, total, 1)
        ctx.save_for_backward(x, total)
        ctx.scale = scale
        return out

    @staticmethod
    def backward(ctx, dout):
        x, total = ctx.saved_tensors
        dx = torch.empty_like(x)
        kernel[(1,)](dout, dx, 1)
        kernel[(1,)](total, dx, 1)
        return dx, None
'''


def planned(*changes: tuple[str, str]) -> Plan | Planned | Refused | Failed | object:
    """The plan of the file, changed so, or why there is none."""
    text = FILE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    with Planner() as planner:
        loaded = planner.load(text.encode(), "layer.py", "Layer", GIVEN, autograd=True)
        return planner.plan(GIVEN) if isinstance(loaded, Loaded) else loaded


def test_what_is_returned_and_saved_are_the_outputs() -> None:
    plan = planned()
    assert isinstance(plan, Plan)
    assert [one.given for one in plan.buffers] == [*NUMBERS] and plan.steady is None
    fill, *launches = plan.first
    assert isinstance(fill, Fill) and named(fill) == {NUMBERS["total"]}
    assert all(isinstance(one, Launch) for one in launches)
    assert [named(one) for one in launches] == [
        {NUMBERS[a], NUMBERS[b]} for a, b in (("x", "out"), ("x", "total"), ("dout", "dx"), ("total", "dx"))]


@each_row("name, changes", {
    "setup_context": (
        ("forward(ctx, x, scale=1.0)", "forward(x, scale)"),
        ("        ctx.save_for_backward(x, total)\n        ctx.scale = scale\n        return out\n",
         "        Layer.total = total\n        return out\n\n"
         "    @staticmethod\n    def setup_context(ctx, inputs, output):\n"
         "        ctx.save_for_backward(inputs[0], Layer.total)\n")),
    "custom_fwd": (("class Layer", "from torch.amp import custom_bwd, custom_fwd\n\nclass Layer"),
                   ("    def forward", "    @custom_fwd(device_type='cuda')\n    def forward"),
                   ("    def backward", "    @custom_bwd(device_type='cuda')\n    def backward")),
    "once_differentiable": (("    def backward",
                             "    @torch.autograd.function.once_differentiable\n    def backward"),),
    "needs_input_grad": (("dx = torch", "assert ctx.needs_input_grad == (True, False)\n        dx = torch"),),
    "materialize_grads": (("ctx.scale = scale", "ctx.set_materialize_grads(False)"),),
    "non_differentiable": (("ctx.scale = scale", "ctx.mark_non_differentiable(total)"),),
    "attributes": (("dx = torch", "assert ctx.scale == 0.5 and not hasattr(ctx, 'other')\n        dx = torch"),),
    "more of None": (("return dx, None", "return dx, None, None, None"),),
    "views": (("dx = torch.empty_like(x)", "dx = x.new_empty(32)"), ("return dx,", "return dx.view(4, 8),")),
    "in base": (("class Layer(torch.autograd.Function)", "class Base(torch.autograd.Function)"),
                ("        return dx, None\n", "        return dx, None\n\nclass Layer(Base):\n    pass\n")),
}.items())
def test_other_ways_of_writing_one(name: str, changes: tuple[tuple[str, str], ...]) -> None:
    plan = planned(*changes)
    assert isinstance(plan, Plan) and not any(isinstance(one, Copy) for one in plan.first), plan


@each_row("name, changes", {
    "another dtype": (("dx = torch.empty_like(x)", "dx = torch.empty_like(x, dtype=torch.float32)"),),
    "a part": (("dx = torch.empty_like(x)", "dx = x.new_empty(3, 4, 8)[1]"),),
    "an earlier tensor": (("class Layer", "DX = torch.empty(4, 8, dtype=torch.float16, device='cuda')\n\nclass Layer"),
                          ("dx = torch.empty_like(x)", "dx = DX")),
}.items())
def test_what_cannot_be_the_output_is_copied_there(name: str, changes: tuple[tuple[str, str], ...]) -> None:
    plan = planned(*changes)
    assert isinstance(plan, Plan)
    (copy,) = [one for one in plan.first if isinstance(one, Copy)]
    assert copy.target.buffer == NUMBERS["dx"] and copy.source.shape == [4, 8]


RETURN = "return dx, None"
TENSOR = "a contiguous tensor of shape (4, 8) on the GPU, allocated for it"
NOT_SAVED = "of the shape of total, (4,); pass total, and no other of this shape, to ctx.save_for_backward(…)"
SAVE = "save_for_backward(x, total)"
WRONG = {
    "a function": (
        (("class Layer(torch.autograd.Function):", "def Layer(x, scale):\n    pass\n\nclass Other:"),),
        "Layer is not a torch.autograd.Function; write class Layer(torch.autograd.Function)", 10),
    "a module": (
        (("(torch.autograd.Function)", "(torch.nn.Module)"),),
        "Layer is not a torch.autograd.Function; write class Layer(torch.autograd.Function)", 0),
    "no backward": (
        (("def backward", "def backwards"),),
        "Layer has no backward; define backward(ctx, dout) in it, a @staticmethod", 0),
    "no staticmethod": (
        (("    @staticmethod\n    def forward", "    def forward"),),
        "forward of Layer is not a staticmethod; write @staticmethod above it", 11),
    "a classmethod": (
        (("    @staticmethod\n    def backward", "    @classmethod\n    def backward"),),
        "backward of Layer is not a staticmethod; write @staticmethod above it", 20),
    "no context": (
        (("forward(ctx, x, scale=1.0)", "forward(x, scale)"),),
        "forward is defined as forward(x, scale); define it as forward(ctx, x, scale)", 11),
    "two gradients in": (
        (("backward(ctx, dout)", "backward(ctx, dout, dtotal)"),),
        "backward is defined as backward(ctx, dout, dtotal); define it as backward(ctx, dout)", 20),
    "nothing returned": ((("        return out\n", ""),), f"forward returns None for out; return {TENSOR}", 17),
    "total returned, too": (
        (("return out\n", "return out, total\n"),),
        "forward returns 2 values; return out, and save total with ctx.save_for_backward(…)", 18),
    "the input returned": (
        (("return out\n", "return x\n"),), f"forward returns x, or a view of it, for out; return {TENSOR}", 18),
    "too few gradients": (
        ((RETURN, "return dx"),),
        "backward returns 1 gradient for the 2 arguments of forward; return dx, None", 26),
    "too many gradients": (
        ((RETURN, "return dx, None, dx"),),
        "backward returns 3 gradients for the 2 arguments of forward; return dx, None", 26),
    "a gradient of a number": (
        ((RETURN, "return dx, dx"),),
        "backward returns a gradient for scale, which has none; return dx, None", 26),
    "no gradient": (
        ((RETURN, "return None, None"),), f"backward returns None for dx; return dx, None, with {TENSOR}", 26),
    "a gradient of another shape": (
        ((RETURN, "return dx.t(), None"),),
        f"backward returns a tensor of shape (8, 4) for dx; return dx, None, with {TENSOR}", 26),
    "strides": (
        (("dx = torch.empty_like(x)", "dx = x.new_empty(8, 4).t()"),),
        f"backward returns a tensor of strides (1, 4) for dx; return dx, None, with {TENSOR}", 26),
    "in host memory": (
        ((RETURN, "return torch.empty(4, 8), None"),),
        f"backward returns a tensor in host memory for dx; return dx, None, with {TENSOR}", 26),
    "a list": (
        ((RETURN, "return [dx, None]"),),
        "backward returns 1 gradient for the 2 arguments of forward; return dx, None", 26),
    "not saved": (((SAVE, "save_for_backward(x, x)"),), f"forward saves no tensor {NOT_SAVED}", 18),
    "saved twice": (((SAVE, "save_for_backward(total, total)"),), f"forward saves 2 tensors {NOT_SAVED}", 18),
    "nothing saved": (((f"        ctx.{SAVE}\n", ""),), f"forward saves no tensor {NOT_SAVED}", 17),
    "a number saved": (
        ((SAVE, "save_for_backward(x, total, scale)"),),
        "argument 3 of ctx.save_for_backward is of type float, and it saves tensors alone; set ctx.name = value for "
        "anything else", 16),
    "a tensor on ctx": (
        (("ctx.scale = scale", "ctx.kept = [scale, {'x': x}]"),),
        "ctx.kept is set to a tensor, which PyTorch does not see there; pass it to ctx.save_for_backward(…), and read "
        "it from ctx.saved_tensors", 17),
    "an attribute never set": (
        (("dx = torch", "ctx.causal\n        dx = torch"),), "ctx.causal is not set; set it in forward", 23),
    "out is not differentiable": (
        (("ctx.scale = scale", "ctx.mark_non_differentiable(out)"),),
        "forward marks its output as non-differentiable, so PyTorch does not call backward; leave it out of "
        "ctx.mark_non_differentiable(…)", 18),
    "one tensor for two": (
        (("ctx.scale = scale", "Layer.out = out"), (RETURN, "return Layer.out, None")),
        "dx and out share memory; allocate a tensor for each", 0),
}


@each_row("name, changes, message, line", [(name, *row) for name, row in WRONG.items()])
def test_what_is_none(name: str, changes: tuple[tuple[str, str], ...], message: str, line: int) -> None:
    found = planned(*changes)
    assert isinstance(found, Failed) and found.failure == "autograd", found
    assert (found.message, found.line) == (message, line)


@each_row("statement, why", {
    "float(x[0, 0])": "read_number", "x.sum().item()": "reduction", "ctx.x0 = x[0, 0].item()": "read_number",
    "x.tolist()": "read_values", "x * scale": "arithmetic", "x.zero_()": "input_written", "x.mul_(2)": "in_place",
    "x @ x.t()": "matmul", "torch.compile(lambda a: a * 2)(x)": "arithmetic",
    "torch.autograd.Function = object; torch.softmax(x, 1)": "reduction",
}.items())
def test_neither_direction_has_numbers(statement: str, why: str) -> None:
    for place in ("        ctx.scale = scale\n", "        dx = torch.empty_like(x)\n"):
        found = planned((place, f"{place}        scale = 2.0\n        {statement}\n"))
        assert isinstance(found, Refused) and found.why == why, (place, found)
