"""Every failure has a hint that fits what was said, and none that misleads."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from grader.judge.explain import explain_failure, explain_unreadable
from grader.model.submission import Cause, Unreadable
from grader.model.verdicts import FailureKind
from tests.frontends.triton.kernels import lower
from tests.judge.explain import wrong_kernels
from tests.judge.toys import SILU

TEXTS = {"indexed_by_a_block": "tl.store(x, x[tl.arange(0, BLOCK)])"}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return wrong_kernels.made(tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("name", wrong_kernels.KERNELS)
def test_what_triton_does_not_compile_has_a_hint(kernels: dict[str, Any], name: str) -> None:
    kernel, words = kernels[name], wrong_kernels.KERNELS[name][1]
    with pytest.raises(Exception) as error:
        # Asked for by every launch: it reads what the kernel refers to.
        assert kernel.cache_key
        lower(kernel, {"x": "*fp32", "n": "i32"}, {"BLOCK": 32})
    detail = explain_failure(SILU, "compile_error", f"{error.typename}: {error.value}", line=7,
                             text=TEXTS.get(name, "…"))
    assert words in detail.hint and detail.kind == "compile_error"
    assert not detail.message.startswith("CompilationError: at "), "the kernel's text is quoted"


@pytest.mark.parametrize(
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
        ("syntax_error", "SyntaxError: too many nested parentheses", "nested too deeply"),
        ("syntax_error", "SyntaxError: invalid syntax", "unclosed bracket"),
        ("crash", "the process exited by itself with status 3", "during the call"),
        ("import_error", "ModuleNotFoundError: No module named 'silu'", "each file stands alone"),
        ("import_error", "ModuleNotFoundError: No module named 'pandas'", "plots and tables"),
        ("import_error", "ImportError: cannot import name 'helper' from 'silu'", "each file stands alone"),
        ("time_out", "no answer within 10 s", "does not end"),
        ("missing_function", "no function silu", "silu(x, out)"),
        ("missing_file", "no silu.py", "silu.py"),
        ("over_limit", "the process printed more than 64 MiB", "starts no processes"),
        ("protocol", "one line of JSON expected", "file descriptors"),
        ("infrastructure", "no memory for the output", "costs no points"),
    ],
)
def test_failures_have_hints(kind: FailureKind, message: str, words: str) -> None:
    detail = explain_failure(SILU, kind, message, line=7, text="y = kernel[grid](x)")
    assert words in detail.hint and detail.kind == kind
    assert detail.place is not None and (detail.place.file, detail.place.line) == ("silu.py", 7)


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
    detail = explain_failure(SILU, "exception", "ValueError: 9 is odd", line=3, text='raise ValueError(f"{n} is odd")')
    assert "raises this" in detail.hint


@pytest.mark.parametrize("number", [
    s for s in signal.Signals if s.name in {"SIGSEGV", "SIGKILL", "SIGABRT", "SIGXCPU", "SIGSYS", "SIGXFSZ"}])
def test_signals_have_hints_of_their_own(number: signal.Signals) -> None:
    detail = explain_failure(SILU, "crash", f"the process was killed by {number.name}", signal=number)
    assert detail.kind == "crash"
    assert detail.hint != explain_failure(SILU, "crash", "it died").hint


def test_a_loop_that_runs_out_of_time_is_asked_about() -> None:
    assert "ever become false" in explain_failure(SILU, "time_out", "no answer", line=3, text="while True:").hint


def test_messages_of_a_submission_are_one_short_line() -> None:
    detail = explain_failure(SILU, "exception", "ValueError: a\nb\x1b[31m\u202e" + "x" * 5000)
    assert len(detail.message) <= 500 and detail.message.isprintable()
