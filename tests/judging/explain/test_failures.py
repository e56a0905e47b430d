"""Every failure has a hint that fits what was said, and none that misleads."""

import runpy
import signal
from textwrap import indent
from typing import Any

import pytest

from grader.course.submission import Cause, UnreadableFile
from grader.judging.explain import explain_failure, explain_unreadable
from grader.results.verdicts import FailureKind
from tests.judging.toys import SILU
from tests.languages.triton.kernels import lower
from tests.rows import beside, each_row

DATA = beside(__file__)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """From a file: Triton reads their source."""
    path = tmp_path_factory.mktemp("kernels") / "kernels.py"
    path.write_text(DATA["head"] + "".join(
        f"@triton.jit\ndef {name}(x, n, BLOCK: tl.constexpr):\n{indent(body, '    ')}\n"
        for name, (body, _) in DATA["kernels"].items()))
    return runpy.run_path(str(path))


@each_row("name", DATA["kernels"])
def test_what_triton_does_not_compile_has_a_hint(kernels: dict[str, Any], name: str) -> None:
    kernel, (body, words) = kernels[name], DATA["kernels"][name]
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


@each_row(("kind", "message", "words"), DATA["failures"])
def test_failures_have_hints(kind: FailureKind, message: str, words: str) -> None:
    detail = explain_failure(SILU, kind, message, line=1, source="y = kernel[grid](x)")
    assert words in detail.hint and detail.kind == kind
    assert detail.place is not None and (detail.place.file, detail.place.line) == ("silu.py", 1)


@each_row(("kind", "message", "text", "words"), DATA["lines"])
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
    detail = explain_unreadable(SILU, UnreadableFile(cause, "silu.py: so it is", 131_072))
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
