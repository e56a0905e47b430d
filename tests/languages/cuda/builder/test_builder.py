"""What the builder says of files that do not compile, or lack what the assignment calls."""

import re
import time
from pathlib import Path

import pytest

from grader.languages.cuda.confined.builder.compiler_messages import compile_failure
from grader.languages.cuda.confined.builder.functions import FunctionSymbol, NotFound, candidates, find
from grader.languages.cuda.confined.builder.programs import TooSlow, run, spent
from grader.languages.cuda.confined.built import Contents, read_built
from grader.languages.cuda.toolkit import toolkit
from grader.plan.device import TARGETS
from grader.plan.messages import Failed, Given, Texts
from grader.plan.plan import Malformed
from grader.sandbox.forkserver import clock
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import build, contents_of, elementwise, size, tensor
from tests.rows import beside

pytestmark = needs_nvcc
DATA = beside(__file__)
KERNEL = "__global__ void k(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"
RIGHT = KERNEL + "\nvoid silu(float *input, float *output, int n) { k<<<1, 256>>>(input, output, n); }\n"
WANTED = "the assignment calls silu(float *x, float *out, int n)"


@pytest.mark.parametrize(("source", "failure", "line", "says"), DATA["wrong"].values(), ids=DATA["wrong"])
def test_what_is_wrong_with_a_file(source: str, failure: str, line: int, says: str) -> None:
    found = build(source.replace("RIGHT\n", RIGHT).replace("KERNEL", KERNEL), "silu", elementwise(100))
    assert isinstance(found, Failed), found
    assert (found.failure, found.line) == (failure, line), found
    assert says in found.message
    # No folder of this machine, and no name that a compiler made up.
    assert not re.search(r"/tmp|tmpxft|/usr|file\.o", found.message)


@pytest.mark.parametrize("before", [
    # Headers that stand beside a file where students build it.
    '#include "silu.h"\n#include "kernels.h"\n#include <math.h>\nstatic half none;\n',
    # What CUDA's own header brings along, and functions that are left out of it where nothing names them.
    "static_assert(std::is_same<int, int>::value);\nint most = std::max(std::numeric_limits<int>::min(), 3);\n",
    "#include <cmath>\ndouble bessel(double x) { return std::cyl_bessel_j(0, x) + std::betaf(x, x); }\n",
    "#include <cmath>\n#include <random>\n#include <complex>\nstd::normal_distribution<float> normal;\n"
    "double length(double x) { return std::hypot(x, x, x); }\n",
])  # fmt: skip
def test_headers_are_those_of_a_students_machine(before: str) -> None:
    made = build(before + RIGHT, "silu", elementwise(100))
    assert not isinstance(made, Failed), made


def found_in(folder: Path, source: str, given: list[Given] | None = None) -> FunctionSymbol | NotFound:
    """The function of a file that has no kernels."""
    compilers = toolkit()
    assert compilers is not None
    (folder / "x.cpp").write_text(source, encoding="utf-8")
    command = [compilers.host, "-c", f"-I{compilers.include}", "x.cpp", "-o", "x.o"]
    end = run(command, folder, time.monotonic() + 60)
    assert not end.status, end.printed
    found = candidates(folder, ["x.o"], "silu", clock.now() + 60)
    return find(found, "silu", elementwise(4) if given is None else given, source, set())


HALVES = [tensor("a", 4, dtype="float16"), tensor("c", 4, dtype="float16", output=True), size("n", 4)]
LEVELS = [tensor("a", 4, dtype="uint8"), tensor("c", 4, dtype="uint8", output=True), size("n", 4)]


@pytest.mark.parametrize(("declaration", "given"), [
    ("void silu(float *input, float *output, int n)", None),
    ("void silu(const float *__restrict__ input, float *__restrict__ output, const int n)", None),
    ("#include <cstddef>\nvoid silu(float input[], float output[], size_t n)", None),
    ('extern "C" void silu(const float* input, float* output, unsigned n)', None),
    ("void silu(float *input, /* of n */ float *output, long long n)", None),
    ("void silu(int input) {}\nvoid silu(float *input, float *output, int n)", None),
    ("#include <cuda_fp16.h>\nvoid silu(const half *input, __half *output, int n)", HALVES),
    ("void silu(const unsigned char *input, unsigned char *output, int n)", LEVELS),
])  # fmt: skip
def test_functions_may_be_declared_in_many_ways(tmp_path: Path, declaration: str, given: list[Given] | None) -> None:
    found = found_in(tmp_path, f"{declaration} {{}}", given)
    assert isinstance(found, FunctionSymbol), found
    # Of two functions the first has names that are not those of this one.
    assert "void silu(int" in declaration or [one.name for one in found.parameters] == ["input", "output", "n"]
    assert [parameter.type for parameter in found.parameters][:2] == ["pointer", "pointer"]


@pytest.mark.parametrize(("source", "missing", "line", "message"), DATA["uncallable"])
def test_functions_that_cannot_be_called(tmp_path: Path, source: str, missing: bool, line: int, message: str) -> None:
    assert found_in(tmp_path, source) == NotFound(missing, message.replace("WANTED", WANTED), line)


@pytest.mark.parametrize(("printed", "failure"), [
    ("nvcc error   : 'cicc' died due to signal 24 (CPU time limit exceeded)", "time_out"),
    ("fatal error: error writing to silu.ii: File size limit exceeded", "time_out"),
    ("cc1plus: out of memory allocating 65536 bytes after a total of 4294967296 bytes", "out_of_memory"),
    ("nvcc error   : 'cudafe++' died due to signal 11 (Invalid memory reference)", "out_of_memory"),
])  # fmt: skip
def test_limits_that_a_compiler_reached_are_told(tmp_path: Path, printed: str, failure: str) -> None:
    assert compile_failure(printed, 1, tmp_path, "silu.cu", 0).failure == failure


@pytest.mark.parametrize("program", ["sleep 60 & wait", "while :; do :; done", "(while :; do :; done) & wait $!"])
def test_a_compiler_that_takes_too_long_is_ended(tmp_path: Path, program: str) -> None:
    before = time.monotonic()
    with pytest.raises(TooSlow):
        run(["sh", "-c", program], tmp_path, spent() + 0.2)
    assert time.monotonic() - before < 20


def test_a_kernel_is_compiled_for_the_device_and_named_alike_each_time() -> None:
    source = ("namespace { __global__ void k(float *y) { *y = 1; } }\nint main() { return 0; }\n"
              "void silu(float *input, float *output, int n) { k<<<1, 1>>>(output); }")
    first, second = (build(source, "silu", elementwise(100), TARGETS["sm_80"]) for _ in range(2))
    assert isinstance(first, bytes) and isinstance(second, bytes)
    (entry,), (again,) = contents_of(first).entries, contents_of(second).entries
    assert ".target sm_80" in entry.text and entry.name == "k"
    assert (entry.text, entry.symbol) == (again.text, again.symbol)


def edited(*texts: str) -> list[Contents | None]:
    """Return the contents of these copies, built together, as a planner reads them: None for one that is not built."""
    made = build(Texts(texts=list(texts)).model_dump_json(), "silu", elementwise(100), edited=True)
    assert isinstance(made, bytes), made
    found: list[Contents | None] = []
    for number in range(len(texts)):
        try:
            found.append(read_built(made, number)[1])
        except Malformed:
            found.append(None)
    return found


def test_edited_copies_are_built_together_without_those_that_do_not_compile() -> None:
    source = f"#include <cmath>\n__device__ float scale = 2.0f;\n{RIGHT}"
    first, other, alike, *none = edited(
        source, source.replace("] = x", "] = scale * x"), source.replace("void silu", 'extern "C" void silu'),
        source.replace("< n)", "< m)"), source.replace("void silu", "static void silu"),
        source.replace("<<<1,", "<<<,"))
    assert none == [None] * 3 and first and other and alike
    assert [len(one.entries) for one in (first, other, alike)] == [1, 1, 1]
    assert len({(one.symbol, one.entries[0].symbol) for one in (first, other, alike)}) == 3
    assert [len(one.entries[0].variables) for one in (first, other, alike)] == [0, 1, 0]
