"""Every failure has a hint that fits what was said, and none that misleads."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from grader.course.submission import Cause, Unreadable
from grader.judging.explain import explain_failure, explain_unreadable
from grader.results.verdicts import FailureKind
from tests.judging.explain import wrong_kernels
from tests.judging.toys import SILU
from tests.languages.triton.kernels import lower
from tests.rows import each_row


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return wrong_kernels.made(tmp_path_factory.mktemp("kernels"))


@each_row("name", wrong_kernels.KERNELS)
def test_what_triton_does_not_compile_has_a_hint(kernels: dict[str, Any], name: str) -> None:
    kernel, (body, words) = kernels[name], wrong_kernels.KERNELS[name]
    with pytest.raises(Exception) as error:
        # Asked for by every launch: it reads what the kernel refers to.
        assert kernel.cache_key
        lower(kernel, {"x": "*fp32", "n": "i32"}, {"BLOCK": 32})
    # Triton counts from the kernel's `def`.
    line = getattr(getattr(error.value, "node", None), "lineno", 2)
    detail = explain_failure(SILU, "compile_error", f"{error.typename}: {error.value}", line=1,
                             source=body.split("\n")[line - 2].strip())
    assert words in detail.hint and detail.kind == "compile_error"
    assert not detail.message.startswith("CompilationError: at "), "the kernel's text is quoted"


@each_row(
    ("kind", "message", "words"),
    [
        ("exception", "TypeError: add() missing 1 required positional argument: 'n'", "leaves out 'n'"),
            ("exception", "KeyError: {0} {name}", "print the shapes"),
        ("exception", "TypeError: kernel k: missing a required argument: 'BLOCK'", "passes no BLOCK"),
        ("exception", "KeyError: 'Keyword argument BLOK was specified but unrecognised by kernel k'",
         "letter by letter"),
        ("exception", "RuntimeError: output with shape [1] doesn't match the broadcast shape [7]", "different shapes"),
        ("exception", "RuntimeError: Cannot call @triton.jit'd outside of the scope of a kernel",
         "kernel[(programs,)]"),
        ("exception", "TypeError: object of type 'int' has no len()", "(programs,), with a comma"),
        ("exception", "TypeError: 'function' object is not subscriptable", "put @triton.jit above it"),
        ("exception", "ZeroDivisionError: integer division or modulo by zero", "Which size is 0"),
        ("exception", "ValueError: not enough values to unpack (expected 2, got 1)", "wrong number of names"),
        ("exception", "RecursionError: maximum recursion depth exceeded", "calls itself without end"),
        ("exception", "SystemExit: 1", "Do not call exit()"),
        ("exception", "AcceleratorError: CUDA error: misaligned address\nSearch for", "tl.multiple_of"),
        ("exception", "AcceleratorError: CUDA error: device-side assert triggered", "tl.device_assert"),
        ("exception", "OutOfResources: out of resource: shared memory, Required: 393216, Hardware limit: 232448. "
         "Reducing block sizes or `num_stages` may help.", "more shared memory than the GPU has"),
        ("exception", "RuntimeError: Triton Error [CUDA]: invalid argument", "at most 65,535"),
        ("exception", "AcceleratorError: CUDA error: unspecified launch failure", "stopped in the middle"),
        ("exception", "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
         "device first"),
        ("exception", "AttributeError: module 'torch' has no attribute 'float8_e3m4'", "no float8_e3m4 here"),
        ("exception", "AttributeError: module 'triton.language' has no attribute 'float8e4m3'",
         "no float8e4m3 here"),
        ("out_of_bounds", "an illegal memory access was encountered", "outside every tensor"),
        ("out_of_memory", "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0",
         "Allocate no more"),
        ("unreadable_source", "The file is not text in UTF-8.", "Save silu.py as UTF-8"),
        ("syntax_error", "SyntaxError: source code string cannot contain null bytes", "UTF-16"),
        ("syntax_error", "SyntaxError: invalid non-printable character U+00A0 (silu.py, line 8)", "replace U+00A0"),
        ("syntax_error", "SyntaxError: invalid character '“' (U+201C) (silu.py, line 14)", "Python has no character “"),
        ("syntax_error", "SyntaxError: too many nested parentheses", "nested too deeply"),
        ("syntax_error", "SyntaxError: invalid syntax", "unclosed bracket"),
        ("crash", "the process exited by itself with status 3", "during the call"),
        ("import_error", "ModuleNotFoundError: No module named 'silu'", "each file stands alone"),
        ("import_error", "ModuleNotFoundError: No module named 'pandas'", "plots and tables"),
        ("import_error", "ImportError: cannot import name 'helper' from 'silu'", "each file stands alone"),
        ("import_error", "ImportError: cannot import name 'scaled_dot' from 'torch.nn'", "torch.nn has no scaled_dot"),
        ("time_out", "no answer within 10 s", "does not end"),
        ("missing_function", "no function silu", "silu(x, out)"),
        ("missing_file", "no silu.py", "silu.py"),
        ("over_limit", "the process printed more than 64 MiB", "starts no processes"),
        ("protocol", "one line of JSON expected", "file descriptors"),
    ],
)
def test_failures_have_hints(kind: FailureKind, message: str, words: str) -> None:
    detail = explain_failure(SILU, kind, message, line=1, source="y = kernel[grid](x)")
    assert words in detail.hint and detail.kind == kind
    assert detail.place is not None and (detail.place.file, detail.place.line) == ("silu.py", 1)


PLAIN = "TypeError: 'function' object is not subscriptable"
TOO_HIGH = "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)"
CLUSTERS = "ValueError: num_ctas=132, less than or equal to 16 expected"
ON_THE_HOST = ("ValueError: Pointer argument (at 1) cannot be accessed from Triton (cpu tensor?), which is allocated "
               "in host memory in line 3")
NO_KERNEL = "RuntimeError: Cannot call @triton.jit'd outside of the scope of a kernel"
NO_JIT = "ValueError: Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside of JIT ...)"
NOT_CALLED = "TypeError: unsupported operand type(s) for +: 'builtin_function_or_method' and 'int'"
CONSTANT = "AttributeError: 'int' object has no attribute 'to'"
NO_TENSOR = "AttributeError: 'NoneType' object has no attribute 'to_tensor'"


@pytest.mark.parametrize(("kind", "message", "text", "words"), [
    # Kernels and the functions that launch them.
    ("exception", NO_KERNEL, "", "silu(x, out) is called as an ordinary function"),
    ("exception", NO_KERNEL, "silu_kernel(x, out, n, 1024)", "with the grid in square brackets"),
    ("exception", NO_KERNEL, "grid = (tl.cdiv(n, BLOCK),)", "write triton.cdiv"),
    ("exception", NO_KERNEL, "m = tl.maximum(rows, cols)", "tl.maximum is for kernels"),
    ("exception", NO_JIT, "offs = tl.arange(0, BLOCK)", "put @triton.jit above its `def`"),
    ("exception", PLAIN, "silu[grid](x, out, n)", "silu is the function that launches the kernel"),
    ("exception", PLAIN, "kernels.run[(x.shape[0],)](x)", "Only a function with"),
    ("exception", PLAIN, "r = my_silu[lambda m: (m[\"B\"],)](x)", "my_silu is an ordinary function"),
    ("import_error", "AttributeError: 'function' object has no attribute 'arg_names'", "def k(x):",
     "stand above @triton.jit"),
    ("compile_error", "NameError: Cannot access global variable half from within @jit'ed function.", "y = half(x)",
     "put @triton.jit above half too"),
    ("compile_error", "NameError: Cannot access global variable HALF from within @jit'ed function.", "y = HALF * x",
     "define it as tl.constexpr(...)"),
    ("compile_error", "KeyError: silu.odd__Pfp32_i32__(2,)cconstexpr_128_", "odd(x, n, B)", "odd calls itself"),
    ("compile_error", "KeyError: k.tree_sum__Pfp32__(1,)cconstexpr_0_", "s = tree_sum(x)", "tree_sum calls itself"),
    ("compile_error", "TypeError: failed to specialize argument of type: tensor", "inner[(1,)](x)", "without [grid]"),
    # Launches.
    ("exception", "KeyError: 'BLOCK_SIZE'", "grid = lambda m: (triton.cdiv(n, m['BLOCK_SIZE']),)", "none of them"),
    ("exception", "KeyError: 'BM'", "return (triton.cdiv(M, meta[\"BM\"]),)", "BM is none of them"),
    ("exception", "KeyError: 'x'", "y = table[name]", "print the shapes"),
    ("exception", "TypeError: silu.<locals>.<lambda>() takes 0 positional arguments but 1 was given", "k[g](x)",
     "lambda meta:"),
    ("exception", "TypeError: 'numpy.float64' object cannot be interpreted as an integer", "k[g](x)", "triton.cdiv"),
    ("exception", "ValueError: Conflicting meta-parameters: BLOCK. Make sure", "k[g](x, BLOCK=64)", "leave it out"),
    ("exception", "TypeError: object of type 'CompiledKernel' has no len()", "out[:] = k[g](x)", "gives nothing back"),
    ("exception", "TypeError: failed to specialize argument of type: CompiledKernel", "k[g](s)", "gives nothing back"),
    ("exception", "TypeError: failed to specialize argument of type: list", "k[g](list(x.shape))", "sizes one by one"),
    ("exception", "TypeError: failed to specialize argument of type: torch.dtype", "k[g](x.dtype)",
     "no types of torch"),
    ("syntax_error", "SyntaxError: invalid syntax", "k<<<(n,)>>>(x, out)", "CUDA C++"),
    ("exception", CLUSTERS, "k[g](x, num_ctas=132)", "clusters"),
    ("compile_error", "with num_ctas=3: RuntimeError: PassManager::run failed", "def k(x):", "num_ctas joins programs"),
    ("compile_error", "the compiler was ended by itself: python: assertion", "def k(x):", "smaller blocks"),
    ("exception", ON_THE_HOST, "k[g](x)", "Allocate it on the GPU"),
    # Tensors of host code.
    ("exception", "TypeError: 'bool' object is not callable", "assert x.is_cuda()", "Brackets are missing or too many"),
    ("exception", "TypeError: 'torch.Size' object is not callable", "M, N = x.shape()", "x.shape, x.dtype"),
    ("exception", NOT_CALLED, "k[(x.numel + 255) // 256](x)", "x.numel(), x.size(0)"),
    ("exception", TOO_HIGH, "x.stride(1)", "fewer dimensions"),
    ("exception", "NameError: name 'torch' is not defined", "t = torch.empty(1)", "Import torch at the top"),
    # What the kernel's line decides.
    ("compile_error", "list index out of range", "n = x.shape[0]", "A kernel sees addresses"),
    ("compile_error", "TypeError: 'int' object is not callable", "n = x.numel()", "A kernel sees addresses"),
    ("compile_error", CONSTANT, "rows = M.to(tl.int64)", "M is a constant"),
    ("compile_error", CONSTANT, "s = total / n.to(tl.float32)", "tl.cast(n, tl.int64) and n * 1.0"),
    ("compile_error", NO_TENSOR, "y = x / (1 + np.exp(-x))", "np.exp works outside of kernels"),
    ("compile_error", NO_TENSOR, "y = x * helper(math.pi)", "lack its `return`"),
    ("compile_error", "TypeError: zeros(): argument 'size' must be tuple", "a = torch.zeros(B)", "torch.zeros works"),
    ("compile_error", "NameError: acc is not defined", "acc += tl.sum(x)", "acc has no value before this line"),
    ("compile_error", "NameError: acc is not defined", "y = acc + 1", "set only in a branch or another loop"),
    ("compile_error", "invalid axis 1. Expected -1 <= axis < 1", "s = tl.sum(x, axis=1)", "has axis 0 alone"),
    ("compile_error", "cannot reassign constexpr left in the loop", "while left > 0:", "left changes its type"),
    ("exception", "ValueError: not enough values to unpack (expected 3, got 2)", "x, w, rstd = ctx.saved_tensors",
     "that forward gives to ctx.save_for_backward"),
    # What MLIR says.
    ("compile_error", "'scf.if' op operand #0 must be 1-bit signless integer, but got 'tensor<64xi1>'",
     "y = a if x > 0 else b", "tl.where"),
    ("compile_error", "'tt.load' op operand #1 must be 1-bit signless integer or ranked tensor of 1-bit signless "
     "integer values, but got 'tensor<64xi32>'", "x = tl.load(p, mask=n)", "mask=offsets < n"),
    ("compile_error", "'arith.select' op failed to verify that all of {true_value, false_value, result} have same type",
     "p = tl.where(m, x, 0)", "two blocks of one type"),
])
def test_the_line_has_a_say_in_the_hint(kind: FailureKind, message: str, text: str, words: str) -> None:
    assert words in explain_failure(SILU, kind, message, line=1, source=text).hint


@pytest.mark.parametrize(("constants", "text", "words"), [
    ({"B": "45", "n": "1"}, "offs = tl.arange(0, B)", "two only (here B = 45): make"),
    ({"BM": "48", "BN": "64", "M": "1"}, "a = tl.zeros((BM, BN))", "two only (here BM = 48, BN = 64): make"),
    ({"BM": "48"}, "acc += tl.dot(a, b)", "two only: make"),
    ({}, "offs = tl.arange(0, 45)", "two only: make"),
])
def test_constants_of_the_line_are_told(constants: dict[str, str], text: str, words: str) -> None:
    said = "arange's range must be a power of 2"
    assert words in explain_failure(SILU, "compile_error", said, line=1, source=text, constants=constants).hint


def test_constants_of_other_lines_are_told_where_they_decide() -> None:
    said = "Input shapes should have M >= 1, N >= 1 and K >= 16"
    told = {
        str(constants): explain_failure(
            SILU, "compile_error", said, line=1, source="acc += tl.dot(a, b)", constants=constants).hint
        for constants in ({"M": "1", "T": "8"}, {"T": "1"})}
    assert ["(here T = 8)" in hint for hint in told.values()] == [True, False]
    assert ["(here T = 1)" in hint for hint in told.values()] == [False, True]


@pytest.mark.parametrize(("cause", "words"), [
    ("link_out", "the file itself"), ("dead_link", "leads nowhere"), ("not_a_file", "ordinary file"),
    ("too_large", "may have 131,072 bytes"), ("denied", "permissions"),
])
def test_files_that_cannot_be_read_have_hints(cause: Cause, words: str) -> None:
    detail = explain_unreadable(SILU, Unreadable(cause, "silu.py: so it is", 131_072))
    assert (detail.kind, detail.message) == ("unreadable_source", "silu.py: so it is") and words in detail.hint


def test_a_process_that_exits_by_itself_is_told_from_one_that_only_says_so() -> None:
    assert "Do not call exit()" in explain_failure(SILU, "crash", "status 3", exited=True).hint


def compiled(line: str, said: str) -> str:
    """An error of Triton's compiler: name, place, the kernel up to the line, then the cause."""
    return f"CompilationError: at 2:8:\ndef k(p, n):\n    {line}\n        ^\n{said}"


def test_what_a_compiler_or_allocator_objects_to_is_the_message() -> None:
    assert explain_failure(SILU, "compile_error", compiled("x = y", "NameError('y is not defined')")).message == (
        "NameError: y is not defined")
    assert explain_failure(SILU, "compile_error", "NameError('y is not defined')").message == (
        "NameError: y is not defined")
    assert explain_failure(SILU, "compile_error", compiled("x = 1", "no")).message == "CompilationError: no"
    assert "cannot compile this line" in explain_failure(
        SILU, "compile_error", compiled("tl.zeros((2**21,))", "")).message
    # The kernel's own text is no part of what the compiler says.
    assert "need a pointer" in explain_failure(
        SILU, "compile_error", compiled("# index 3 is out of bounds", "Unsupported ptr type int32")).hint
    assert explain_failure(SILU, "out_of_memory", "[enforce fail at a.cpp:127] err == 0. you tried to allocate 1024 "
                           "bytes. Error code 12").message == "Out of memory: the call tried to allocate 1024 bytes"


def test_addresses_are_no_part_of_a_message() -> None:
    """They differ from one grading to the next."""
    said = "RuntimeError: Unsupported function referenced: <built-in method exp of type object at 0x7fac86ecea40>"
    assert explain_failure(SILU, "compile_error", said).message.endswith("<built-in method exp of type object>")


def test_what_a_submission_raises_itself_is_no_riddle() -> None:
    raised = 'raise ValueError(f"{n} is odd")'
    assert "raises this" in explain_failure(SILU, "exception", "ValueError: 9 is odd", line=1, source=raised).hint


@each_row("number", [
    s for s in signal.Signals if s.name in {"SIGSEGV", "SIGKILL", "SIGABRT", "SIGXCPU", "SIGSYS", "SIGXFSZ"}])
def test_signals_have_hints_of_their_own(number: signal.Signals) -> None:
    detail = explain_failure(SILU, "crash", f"the process was killed by {number.name}", signal=number)
    assert detail.kind == "crash"
    assert detail.hint != explain_failure(SILU, "crash", "it died").hint


def test_a_loop_that_runs_out_of_time_is_asked_about() -> None:
    assert "ever become false" in explain_failure(SILU, "time_out", "no answer", line=1, source="while True:").hint


def test_messages_of_a_submission_are_one_short_line() -> None:
    detail = explain_failure(SILU, "exception", "ValueError: a\nb\x1b[31m\u202e" + "x" * 5000)
    assert len(detail.message) <= 500 and detail.message.isprintable()
