"""What students are told of the compiler's messages and of CUDA's runtime's."""

import re

from grader.course import catalogue
from grader.judging.explain import explain_failure
from grader.judging.explain.refusals import explain_refusal
from grader.judging.explain.wording import mistaken, say
from grader.languages.cuda.phrases import PHRASES
from grader.languages.cuda.phrases.compiling import unwrap
from grader.plan.messages import Refused
from grader.results.verdicts import FailureKind
from tests.languages.outside import outside
from tests.rows import each_row

SILU = catalogue.assignments()["silu"].model_copy(update={"suffix": ".cu"})

OTHERS = r"\btl\.|torch|[Tt]riton|num_warps|BLOCK"
# Beside those of the corpus, whose messages are the compiler's own.
COMPILED = [
    ("silu.cu(3): error: expression must have integral or unscoped enum type", "float r = v % 2.0f;", "fmodf(x, y)"),
    # What nvcc 13.0 and g++ say, the line, and what tells what to do.
    ('silu.cu(3): error: identifier "blockIDx" is undefined', "x[blockIDx.x] = 1;", "blockIdx, blockDim, threadIdx"),
    ('silu.cu(3): error: identifier "thread_idx" is undefined', "x[thread_idx.x] = 1;", "spelt exactly so"),
    ('silu.cu(3): error: identifier "elif" is undefined', "elif (i < n) x[i] = 1;", "else if"),
    ('silu.cu(3): error: identifier "printf" is undefined', 'printf("a");', "#include <cstdio>"),
    ('silu.cu(3): error: identifier "FLT_MAX" is undefined', "float m = -FLT_MAX;", "#include <cfloat>"),
    ('silu.cu(1): error: incomplete type "void" is not allowed', "__global__ void k(half *x) {",
        "#include <cuda_fp16.h>"),
    ('silu.cu(1): error: calling a __host__ function("cudaMemcpy") from a __global__ function("k") is not allowed',
     "cudaMemcpy(x, y, 4, cudaMemcpyDeviceToDevice);", "stand in the function that calls the kernel"),
    ('silu.cu(4): error: calling a constexpr __host__ function("std::max") from a __global__ function("k") is not '
     'allowed',
     "x[i] = std::max(x[i], 0.f);", "such as fmaxf"),
    ('silu.cu(4): error: calling a constexpr __host__ function("fmin") from a __global__ function("k") is not allowed',
     "int m = fmin(n - i, 8);", "use min and max for them"),
    ('silu.cu(2): error: calling a __device__ function("__syncthreads") from a __host__ function("silu") is not '
     'allowed',
     "__syncthreads();", "__syncthreads works inside kernels only"),
    ('silu.cu(4): error: identifier "width" is undefined in device code', "x[i] = width;", "pass it as an argument"),
    ('silu.cu(6): error: class "cudaDeviceProp" has no member "memoryClockRate"', "int khz = prop.memoryClockRate;",
     "CUDA 13 has left memoryClockRate out of cudaDeviceProp"),
    ("silu.cu(6): error: a __global__ function call must be configured", "k(input, n);", "k<<<blocks, threads>>>"),
    ('silu.cu(6): error: expected a ">>>"', "k<<<1, 1>>(input, n);", "three angle brackets"),
    ('silu.cu(2): error: argument of type "const float *" is incompatible with parameter of type "float *"',
     "k<<<1, 1>>>(input);", "write const in front of the kernel's parameter"),
    ("silu.cu(6): error: too many arguments in function call", "k<<<1, 1>>>(a, b, c);", "more arguments"),
    ("silu.cu(1): error: expression must be a modifiable lvalue", "x[0] = 1;", "leave const out"),
    ('silu.cu(3): error: no instance of overloaded function "atomicMax" matches the argument list\n'
     "            argument types are: (float *, float)", "atomicMax(x, 1.0f);", "no form for floats"),
    ('silu.cu(3): error: more than one instance of overloaded function "max" matches the argument list:',
     "float m = max(x[i], 0);", "0.0f"),
    ('silu.cu(2): error: more than one operator "*" matches these operands:\n  operand types are: half * int',
        "x[1] * n",
     "__half2float"),
    ("silu.cu(3): error: expression must have a constant value", "k<n><<<1, 1>>>(input);", "constexpr int"),
    ("silu.cu(3): error: initializer not allowed for __shared__ variable", "__shared__ float s = 0;",
     "then call __syncthreads()"),
    ('silu.cu(5): error: declaration is incompatible with previous "s" (declared at line 3)', "extern __shared__ int "
                                                                                              "s[];",
     "its own name"),
    ("silu.cu(3): error: expression must have integral or unscoped enum type", "x[1.5f] = 2;", "whole number"),
    ('silu.cu(3): error: expression must have class type but it has type "int"', "x[i] = i.x;", "parts with a dot"),
    ('silu.cu(3): error: no suitable constructor exists to convert from "float" to "float2"', "float2 v = x[i];",
     "make_float4"),
    ('silu.cu(3): error: "x" has already been declared in the current scope', "float x = 1;", "declared twice"),
    ('silu.cu(5): error: function "k" has already been defined (previous definition at line 1)', "__global__ void k() "
                                                                                                 "{",
     "The file defines k twice"),
    ("silu.cu(1): error: this declaration has no storage class or type specifier", "x = 1;", "too early"),
    ('At end of source: error: expected a "}"\nsilu.cu(13): note #3196-D: to match this "{"', "", "closing brace } is "
                                                                                                  "missing:"),
    ("silu.cu(3): error: missing closing quote", 'printf("a);', "double quote"),
    ("silu.cu:3:3: error: unterminated comment", "/* x", "*/"),
    ("silu.cu(4): error: unrecognized token", "“a”", "curly quote"),
    ("silu.cu(2): error: extended character  is not valid in an identifier", "int\xa0 i = 0;",
     "type the signs and blanks"),
    *((f'silu.cu(4): error: calling a constexpr __host__ function("{name}") from a __global__ function("k") is not '
       "allowed.", line, said) for name, line, said in (
          ("max", "y[i] = std::max(x[i], 0.0f);", "CUDA's, such as fmaxf"),
          ("max", "y[i] = max(x[i], 0.0f);", "CUDA's, such as fmaxf"),
          ("infinity", "y[i] = std::numeric_limits<float>::infinity();", "write INFINITY"),
          ("max", "y[i] = std::numeric_limits<float>::max();", "FLT_MAX"),
          ("accumulate", "y[i] = std::accumulate(x, x + n, 0.0f);", "C++'s own library runs on the CPU"),
          ("mine", "y[i] = mine(x[i]);", "Write __device__ in front"))),
    ("silu.cu:1:10: fatal error: helper.h: No such file or directory", '#include "helper.h"', "helper.h into it"),
    ("silu.cu(6): error: __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag",
     "auto f = [] __device__ (float x) {", "operator()"),
    ("ptxas silu.ptx, line 29; error   : Unknown modifier '.f33'", "", "PTX ISA"),
    ("undefined reference to `helper(float*)'", "helper(input);", "helper is declared, and defined in no line"),
]


@each_row(("message", "line", "said"), COMPILED)
def test_a_message_of_the_compiler_tells_what_to_do(message: str, line: str, said: str) -> None:
    told = explain_failure(SILU, "compile_error", message, line=1, source=line)
    assert said in told.hint and "{" not in told.hint.replace("{ ", "").replace("each {", "")
    # The place stands beside the message.
    assert "silu.cu" not in told.message and "error:" not in told.message


def test_the_compilers_code_and_what_follows_are_left_out() -> None:
    said = ('silu.cu(3): error: no instance of overloaded function "atomicMax" matches the argument list\n'
            "            argument types are: (float *, float)\n    atomicMax(x, 1.0f);\n    ^\n\n"
            'silu.cu(9): error: identifier "j" is undefined\n')
    assert unwrap(said) == ('No instance of overloaded function "atomicMax" matches the argument list; '
                            "argument types are: (float *, float)")
    assert unwrap("undefined reference to `f()'") == "Undefined reference to `f()'"
    assert unwrap("cudaMalloc of 8 bytes: the GPU has 4") == "cudaMalloc of 8 bytes: the GPU has 4"


RUN: list[tuple[FailureKind, str, str]] = [
    ("exception", "host code crashes: it divides a whole number by zero (FPE)", "may be 0"),
    ("exception", "host code ends its process", "an array of host code is written far past its end"),
    ("exception", "Misaligned address (716)", "multiples of 16"),
    ("exception", "Too many resources requested for launch (701)", "__launch_bounds__"),
    ("time_out", "Compiling the file takes more than 50 seconds of a processor.", "Include less"),
    ("out_of_memory", "The compiler runs out of memory, or crashes: the file is too much for it.", "smaller"),
    ("out_of_memory", "host code has taken so much memory that none is left to read `h_A` in", "until it is freed"),
    ("out_of_memory", "the process took more than 8,192 MiB of memory and was ended", "no more than the sizes"),
    ("wrong_signature", "The function is defined as void silu(float *).", "void silu(float *input, float *output, int "
                                                                          "n)"),
]


@each_row(("kind", "message", "said"), RUN)
def test_a_failure_of_host_code_tells_what_to_do(kind: FailureKind, message: str, said: str) -> None:
    assert said in explain_failure(SILU, kind, message).hint


def test_a_refusal_is_a_sentence_of_cuda() -> None:
    told = explain_refusal(SILU, "x\ny\n", Refused(seq=0, why="read_values", operator="cudaMemcpy", line=2))
    assert told.message == ("Line 2 brings numbers to the host (`cudaMemcpy`), but host code runs without the "
                            "values of arrays.")
    assert "Leave the numbers on the GPU" in told.hint


def test_no_sentence_speaks_of_another_language() -> None:
    assert not re.findall(OTHERS, " ".join(PHRASES.sentences.values()))


def test_no_mistake_of_an_assignment_is_told_in_another_language() -> None:
    hints = {mistake.hint for assignment in catalogue.assignments().values() if "cuda" in assignment.forms
             for mistake in assignment.mistakes}
    told = {hint: say(PHRASES, mistaken(hint)) for hint in hints}
    others = rf"{OTHERS}|other=|float\('|{{|program|\blanes?\b|masked?\b|axis"
    assert {hint: said for hint, said in told.items() if re.search(others, said)} == {}


@each_row(("source", "said"), [
    ("float y = 1 / 2 * x;", "Line 1 divides whole numbers: `1 / 2` is 0."),
    ("int n;\nfloat mean = sum * (1 / n);", "Line 2 divides whole numbers: `1 / n` is 0 unless n is 1."),
    ("out[i] = 299 / 1000 * r;", "`299 / 1000` is 0"),
    ("float acc[4][2];\nfor (int k = 0; k < n; ++k)\n    acc[k % 4][0] += x[k];", "Line 3 adds to `acc`"),
    ("float sum;\nsum += x[i];", "line 1 declares it without a value"),
    ("float m = FLT_MIN;\nm = fmaxf(m, x[c]);", "Line 1 begins the maximum `m` at FLT_MIN"),
    ("double m = DBL_MIN; m = max(m, x[c]);", "begins the maximum `m` at DBL_MIN"),
    # What is meant so, or may be.
    ("int blocks = (n + 255) / 256;", ""), ("float y = x * 1 / 2;", ""), ("float y = 1.0f / 2;", ""),
    ("int n; float n; y = 1 / n;", ""), ("int n; y = 1 / n.x;", ""), ("// 1 / 2\nconst char *s = \"= 1 / 2\";", ""),
    ("float m = -FLT_MIN; m = fmaxf(m, x);", ""), ("float m = FLT_MIN; m = fmaxf(m, fabsf(x[c]));", ""),
    ("float least = FLT_MIN; y = x / fmaxf(least, x);", ""),
    ("int half = 4 / 2;", ""), ("float sum = 0; sum += x;", ""), ("float sum; sum = 0; sum += x;", ""),
    ("__shared__ float total; total += x;", ""), ("void f(float *sum) { sum += 1; }", ""),
    ("float acc[4", ""), ("1 /", ""), ("", ""), ("int n; y = 1 / n->x;", ""),
    (f"y = {'1' * 5000} / 2;", ""),
])
def test_what_a_file_cannot_mean_is_told_by_its_text(source: str, said: str) -> None:
    found = [say(PHRASES, slip.seen) for slip in PHRASES.slips(source)]
    assert (said in found[0] and len(found) == 1) if said else not found


GUARDED = """__global__ void k(float *x, int n) {
    int i = threadIdx.x, j = 0;
    for (int k = 0; k < 4; k++)
        if (i < n) {
            x[HERE] = 0.f;
        }
}
"""


@each_row(("before", "after", "said"), [
    ("HERE", "i + k * 32", "line 4 compares `i`, and the index in line 5 holds `i + k * 32`, in which a loop counts "
                           "`k`"),
    ("HERE", "(i + k) * n + j", "line 4 compares `i`, and the index in line 5 holds `i + k`"),
    # A row further down, which another condition may bound, and what no loop counts.
    ("HERE", "i + k * n", ""),
    ("HERE", "i + j", ""),
    ("i < n)", "i < n && i + k * 32 < n)", ""),
    ("if (i < n) {", "if (j < n) {} {", ""),
    ("if (i < n) {", "while (i < n) {", ""),
    ("x[HERE] = 0.f;\n        }\n}", "x[i + k *", ""),
    # What is compared elsewhere, of the same variable in the same kernel.
    ("k < 4;", "k < 4 && i + k * 32 < n;", ""),
    ("        if (i < n) {", "        if (i + k * 32 >= n) break; else if (i < n) {", ""),
    ("        if (i < n) {", "        if (n <= (i + k * 32)) break; else if (i < n) {", ""),
    ("        if (i < n) {", "        if ((k * 32 + i) > n) break; else if (i < n) {", ""),
    ("        if (i < n) {", "        if (int last = i + k * 32; last > n) break; else if (i < n) {", ""),
    ("        if (i < n) {", "        if (i < j) break; else if (i < n) {", "line 4 compares `i`"),
    ("        if (i < n) {", "        if (k >= left) break; else if (i < n) {", ""),
    ("i < n)", "i < n && left > k)", ""),
    (", j = 0;", ", j = i + k * 32 < n; i = 2;", "line 4 compares `i`"),
    ("__global__", "__global__ void other() { i + k * 32 < n; } __global__", "line 4 compares `i`"),
    # A loop may stop where its bound says, and one that does not hold the access counts something else.
    ("k < 4;", "k < min(4, left);", ""),
    ("k < 4;", "k < n;", ""),
    ("k < 4;", "k < FOUR;", ""),
    ("__global__", "const int left = n - 1; __global__", "line 4 compares `i`"),
    ("for (int k = 0; k < 4; k++)", "for (int k = 0; k < 4; k++) {}", ""),
    ("for (int k = 0; k < 4; k++)", "for (int k = 0; k < 4; k++) f(k);", ""),
    ("for (int k = 0; k < 4; k++)", "for (int k = 0; k < 4; k++) if (j) { f(k); } else", "line 4 compares `i`"),
])
def test_a_condition_is_held_against_the_index(before: str, after: str, said: str) -> None:
    source = GUARDED.replace(before, after).replace("HERE", "i + k * 32")
    slip = PHRASES.outside(source, outside(5))
    assert said in say(PHRASES, slip.seen) if said and slip else slip is None and not said, slip


@each_row(("defined", "constant"), [
    ("#define FOUR 4\n", True), ("#define FOUR (2 * 2) // rows\n", True), ("const int FOUR = 4;\n", True),
    ("constexpr int FOUR = TWO * TWO;\n", True), ("#define FOUR min(4, left)\n", False),
    ("const int FOUR = left;\n", False), ("int FOUR = 4;\n", False), ("#define FOURTH 4\n", False),
])
def test_a_loop_that_counts_to_a_constant(defined: str, constant: bool) -> None:
    source = defined + GUARDED.replace("HERE", "i + k").replace("k < 4", "k < FOUR")
    assert (PHRASES.outside(source, outside(6)) is not None) == constant
