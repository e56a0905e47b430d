"""What is seen of a .cu file without compiling it."""

from typing import Literal

import pytest

from grader.course import catalogue
from grader.course.forms import WrittenParameter
from grader.languages import Outline
from grader.languages.cuda import FRONT_END
from grader.languages.cuda.source import KernelDeclaration, kernel_declarations, outline, stub_line
from grader.plan.plan import DType
from tests.rows import beside

DATA = beside(__file__)
FILE: str = DATA["file"]


def test_functions_and_stubs_of_a_file() -> None:
    found = outline(FILE)
    assert found.stubs == {"silu"}
    assert found.defined == {"sigmoid", "silu_kernel", "nothing", "silu"}


def test_the_line_of_a_stub() -> None:
    assert (stub_line(FILE, "silu"), stub_line(FILE, "gemm")) == (16, 0)


def test_kernels_of_a_file_with_their_parameters() -> None:
    assert kernel_declarations(FILE) == [
        KernelDeclaration("silu_kernel", ("input", "output", "n", "scale", "shape", ""), 8),
        KernelDeclaration("nothing", (), 12), KernelDeclaration("later", ("x",), 13)]


@pytest.mark.parametrize("text", ["// gemm: not written yet", "    //not written yet: gemm  ",
                                  "x // not written yet: gemm"])
def test_a_stub_says_so_in_a_comment(text: str) -> None:
    assert outline(text).stubs == {"gemm"}


@pytest.mark.parametrize(("text", "defined", "kernels"), [
    ("/*" * 100_000, "", 0), ("(" * 300_000, "", 0), ("f(" * 100_000 + ")" * 100_000 + "{", "f", 0),
    ("\"" * 200_000, "", 0), ("__global__ void k(" + "int a," * 50_000 + "int b) {}", "k", 1),
    ("__global__ f() {" * 30_000, "f", 30_000), ("//\\\n" * 100_000, "", 0), ("#\\\n" * 100_000, "", 0),
    ("// not written yet: " * 20_000, "", 0)])
def test_a_hostile_file_is_read_in_little_time(text: str, defined: str, kernels: int) -> None:
    # The suite's own limit ends a reader that tries a file again and again.
    assert outline(text) == Outline(frozenset(defined))
    assert len(kernel_declarations(text)) == kernels


def test_signatures_are_those_of_the_course() -> None:
    written = {one.signature for assignment in catalogue.assignments().values() if "cuda" in assignment.forms
               for one in [assignment.model_copy(update={"suffix": FRONT_END.suffix})]}
    assert "void silu(float *input, float *output, int n)" in written
    assert "void rms_norm_vector(float *input, float *weight, float *output, int cols, float epsilon)" in written
    assert "void gemm(half *A, half *B, half *C, int M, int N, int K)" in written
    assert "void greyscale(unsigned char *input, unsigned char *output, int height, int width)" in written


def test_a_signature_has_the_type_of_each_dtype_and_number() -> None:
    def one(name: str, kind: Literal["input", "scalar", "output", "update", "size"], dtype: DType) -> WrittenParameter:
        return WrittenParameter(name, kind, (name,), dtype)

    assert FRONT_END.signature("f", [
        one("labels", "input", "int64"), one("q", "update", "bfloat16"), one("w", "input", "float8_e4m3fn"),
        one("mask", "input", "bool"), one("values", "output", "int8"), one("causal", "scalar", "bool"),
        one("k", "scalar", "int32"), one("scale", "scalar", "float32"), one("N", "size", "int32")]) == (
        "void f(long long *labels, __nv_bfloat16 *q, __nv_fp8_e4m3 *w, bool *mask, signed char *values, bool causal, "
        "int k, float scale, int N)")
