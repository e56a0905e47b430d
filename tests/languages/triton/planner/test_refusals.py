"""Host code that needs or makes numbers is stopped, whatever it does about it, with its line and what it asked for."""

import textwrap

import pytest

from grader.plan.messages import Failed, Refused
from grader.plan.plan import Plan
from tests.languages.triton.planner.harness import answer
from tests.languages.triton.planner.test_idioms import KERNEL
from tests.rows import beside, each_row

LINE = KERNEL.count("\n") + 2
REFUSED = [(why, *row) for why, rows in beside(__file__)["refused"].items() for row in rows]


@pytest.mark.parametrize(("why", "statement", "operator"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_needs_numbers_is_refused_with_its_line_and_name(why: str, statement: str, operator: str) -> None:
    refused = answer(Refused, f"{KERNEL}def silu(x, out):\n    launch(x, out)\n    {statement}\n")
    assert (refused.why, refused.operator, refused.line) == (why, operator, LINE + 1)
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
