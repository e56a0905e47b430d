"""Host code that needs or makes numbers is stopped, whatever it does about it, with its line and what it asked for."""

import textwrap

import pytest

from grader.plan.messages import Failed, Refused
from grader.plan.plan import Plan
from tests.languages.triton.planner.harness import answer
from tests.languages.triton.planner.test_idioms import KERNEL
from tests.rows import each_row

LINE = KERNEL.count("\n") + 2

REFUSED = {
    "x * 2": ("arithmetic", "aten::mul"),
    "2 ** -x": ("arithmetic", "aten::neg"),
    "torch.sigmoid(x)": ("arithmetic", "aten::sigmoid"),
    "torch.mul(x, x, out=out)": ("arithmetic", "aten::mul"),
    "torch.nn.functional.silu(x)": ("arithmetic", "aten::silu"),
    "getattr(torch.ops.aten, 'exp')(x)": ("arithmetic", "aten::exp"),
    "x.sum()": ("reduction", "aten::sum"),
    "torch.nn.functional.rms_norm(x, (9,))": ("reduction", "aten::rms_norm"),
    "x.max(dim=1)": ("reduction", "aten::max"),
    "torch.softmax(x, 1)": ("reduction", "aten::softmax"),
    "x == x": ("comparison", "aten::eq"),
    "torch.allclose(x, x)": ("comparison", "aten::allclose"),
    "torch.equal(x, out)": ("comparison", "aten::equal"),
    "torch.testing.assert_close(x, x)": ("comparison", "aten::isclose"),
    "x @ x.t()": ("matmul", "aten::matmul"),
    "torch.einsum('ij,kj->ik', x, x)": ("matmul", "aten::einsum"),
    "torch.nn.functional.linear(x, x)": ("matmul", "aten::linear"),
    "torch.rand_like(x)": ("random", "aten::rand_like"),
    "torch.randn(4, device='cuda')": ("random", "aten::randn"),
    "out.normal_()": ("random", "aten::normal_"),
    "out.copy_(x)": ("copy", "aten::copy_"),
    "x.clone()": ("copy", "aten::clone"),
    "x.cpu()": ("copy", "aten::cpu"),
    "torch.cat([x, x])": ("copy", "aten::cat"),
    "out[:] = x": ("copy", "aten::copy_"),
    "__import__('copy').deepcopy(x)": ("copy", "aten::clone"),
    "x.t().contiguous()": ("transposed_copy", "aten::contiguous"),
    "x.t().reshape(-1)": ("transposed_copy", "aten::reshape"),
    "out.view(9, 5).copy_(x.t())": ("transposed_copy", "aten::copy_"),
    "out[:, :4].copy_(x[:, :4])": ("transposed_copy", "aten::copy_"),
    "x.half()": ("cast", "aten::to"),
    "x.to(torch.float64)": ("cast", "aten::to"),
    "out.copy_(x.new_empty(5, 9, dtype=torch.float16))": ("cast", "aten::copy_"),
    "y = torch.empty_like(x); launch(x, y); y.int()": ("cast", "aten::to"),
    "x[torch.tensor([0, 1])]": ("gather", "aten::index"),
    "x[[0, 1]]": ("gather", "aten::index"),
    "torch.where(x > 0, x, out)": ("comparison", "aten::gt"),
    "out.add_(x)": ("in_place", "aten::add_"),
    "out.map_(x, lambda o, v: v)": ("in_place", "map_"),
    "x.apply_(abs)": ("in_place", "apply_"),
    "x[0, 0].item()": ("read_number", "item"),
    "float(x[0, 0])": ("read_number", "float"),
    "range(x[0, 0])": ("read_number", "int"),
    "x.tolist()": ("read_values", "tolist"),
    "if x[0, 0]: pass": ("truth", "bool"),
    "x.numpy()": ("numpy", "numpy"),
    "torch.Tensor.__mro__[1].numpy(x)": ("numpy", "numpy"),
    "__import__('numpy').asarray(x)": ("numpy", "numpy"),
    "torch.utils.dlpack.to_dlpack(x)": ("dlpack", "to_dlpack"),
    "x.__dlpack__()": ("dlpack", "__dlpack__"),
    "out.resize_(3)": ("resize", "aten::resize_"),
    "out.set_(x.untyped_storage(), 0, (5, 9), (9, 1))": ("set_data", "aten::set_"),
    "out.data = x": ("set_data", "data"),
    "x.zero_()": ("input_written", "aten::zero_"),
    "x[0] = 1": ("input_written", "aten::fill_"),
    "torch.compile(lambda v: v * 2)(x)": ("arithmetic", "aten::mul"),
    "torch.compile(torch.nn.SiLU())(x)": ("arithmetic", "aten::silu"),
    "__import__('os').fork()": ("process", "os.fork"),
    "__import__('subprocess').run(['true'])": ("process", "subprocess.Popen"),
    "__import__('socket').socket().connect(('127.0.0.1', 1))": ("network", "socket.connect"),
    "torch.tensor([0.0] * 20_000)": ("other", "aten::tensor"),
    "triton.compile('kernel.text')": ("other", "triton.compile"),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "told"), REFUSED.items(), ids=REFUSED)
def test_what_needs_numbers_is_refused_with_its_line_and_name(statement: str, told: tuple[str, str]) -> None:
    refused = answer(Refused, f"{KERNEL}def silu(x, out):\n    launch(x, out)\n    {statement}\n")
    assert ((refused.why, refused.operator), refused.line) == (told, LINE + 1)
    assert 'File "silu.py"' in refused.traceback


@pytest.mark.parametrize("body", [
    "try: x * 2\nexcept Exception: launch(x, out)",
    "try: x * 2\nexcept BaseException: pass\nlaunch(x, out)",
    "import contextlib\nwith contextlib.suppress(Exception): x * 2\nlaunch(x, out)",
    "try: x * 2\nfinally: return launch(x, out)",
    "import threading\nt = threading.Thread(target=lambda: x * 2); t.start(); t.join(); launch(x, out)",
    "from torch.utils._python_dispatch import _disable_current_modes\nwith _disable_current_modes(): x * 2",
    "with torch._C.DisableTorchFunctionSubclass(): x * 2",
    "with torch._C.DisableTorchFunction(): x * 2",
    "with torch.inference_mode(): x * 2",
    "exec('x * 2')",
])
def test_a_refusal_stands_whatever_the_host_code_does_about_it(body: str) -> None:
    refused = answer(Refused, f"{KERNEL}def silu(x, out):\n{textwrap.indent(body, '    ')}\n")
    assert refused.operator == "aten::mul"


@each_row(("body", "said", "line"), [
    ("raise ValueError('no')", "ValueError: no", 0),
    ("raise SystemExit(3)", "SystemExit: 3", 0),
    ("raise KeyboardInterrupt", "KeyboardInterrupt", 0),
    ("raise GeneratorExit", "GeneratorExit", 0),
    ("silu(x, out)", "RecursionError", 0),
    ("kernel[(1,)](x, out, 4, BLOCK=64, num_warps=64)", "OutOfResources: out of resource: threads", 0),
    ("kernel[(1,)](x, out, 4, BLOCK=64, num_stages=65)", "ValueError: num_stages=65, less than or equal to 64", 0),
    ("out.copy_(x.new_empty(5, 9).fill_(1e39))", "RuntimeError: value cannot be converted to type float", 0),
    ("torch.cuda.cudart().cudaMalloc(64)", "RuntimeError: cudaMalloc is not there for host code: allocate with", 0),
    ("torch.cuda.caching_allocator_alloc(64)", "RuntimeError: caching_allocator_alloc is not there", 0),
    ("__import__('ctypes').CDLL('libcudart.so')", "OSError: libcudart.so is not there for host code: allocate", 0),
    ("len(\n    3)", "TypeError", 0),
    ("class E(Exception):\n    def __str__(self): raise E\nraise E", "E", 2),
    ("raise ValueError('a' * 1_000_000)", "ValueError: aaa", 0),
    ("raise ValueError('\\ud800\\0')", "ValueError: ", 0),
    ("raise type('A' * 100_000, (Exception,), {})", "AAAA", 0),
])
def test_an_exception_of_the_function_is_told_with_its_line(body: str, said: str, line: int) -> None:
    failed = answer(Failed, f"{KERNEL}def silu(x, out):\n{textwrap.indent(body, '    ')}\n")
    assert failed.failure == "exception"
    assert failed.message.startswith(said)
    assert failed.line == LINE + line


def test_a_stub_is_not_attempted() -> None:
    failed = answer(Failed, f"{KERNEL}def silu(x, out): raise NotImplementedError('silu')\n")
    assert (failed.failure, failed.line) == ("not_attempted", LINE - 1)


def test_the_same_host_code_without_the_operator_plans() -> None:
    answer(Plan, f"{KERNEL}def silu(x, out):\n    launch(x, out)\n")


def test_what_cannot_be_planned_is_told_with_what_to_write() -> None:
    failed = answer(Failed, f"{KERNEL}def silu(x, out): launch(x, out).asm['cubin']\n")
    assert failed.failure == "unsupported" and "leave .asm['cubin'] out" in failed.message
