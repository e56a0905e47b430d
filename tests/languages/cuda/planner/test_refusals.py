"""Host code that cannot be planned, and what its author is told."""

from __future__ import annotations

import pytest

from grader.plan.messages import Failed, Refused
from grader.plan.plan import Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import build, elementwise, plan, with_function

SOURCE = """#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cassert>
#include <dlfcn.h>
#include <stdexcept>
#include <thread>
#include <sys/random.h>
#include <unistd.h>
#include <vector>
extern "C" int cublasCreate_v2(void **);
__device__ float total;
__global__ void k(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
__global__ void __launch_bounds__(64) few(float *y) { y[threadIdx.x] = 0; }
__global__ void big(float *y) { extern __shared__ float s[]; s[0] = 1; y[0] = s[0]; }
__global__ void takes_memory(float **y) { y[0] = (float *)malloc(4); }
#define CHECK(call) do { if ((call) != cudaSuccess) { fprintf(stderr, "failed\\n"); exit(1); } } while (0)

extern "C" {
void brings_back(float *x, float *y, int n) {
    std::vector<float> h(n);
    cudaMemcpy(h.data(), x, n * 4, cudaMemcpyDeviceToHost);
}
void brings_back_any(float *x, float *y, int n) { float h; cudaMemcpy(&h, x, 4, cudaMemcpyDefault); }
void from_symbol(float *x, float *y, int n) { float h; cudaMemcpyFromSymbol(&h, total, 4); }
void managed(float *x, float *y, int n) { float *m; cudaMallocManaged(&m, n * 4); }
void reads(float *x, float *y, int n) {
    for (int i = 0; i < n; i++)
        printf("%f", x[i]);
}
void reads_temporary(float *x, float *y, int n) { float *t; cudaMalloc(&t, 4); if (*t > 0) k<<<1, 1>>>(x, y, n); }
void copies(float *x, float *y, int n) { cudaMemcpy(y, x, n * 4, cudaMemcpyDeviceToDevice); }
void writes_input(float *x, float *y, int n) { cudaMemset(x, 0, n * 4); }
void library(float *x, float *y, int n) { void *h; cublasCreate_v2(&h); }
void driver(float *x, float *y, int n) { dlopen("libcuda.so.1", RTLD_NOW); }
void unknown(float *x, float *y, int n) { cudaArray_t a; cudaChannelFormatDesc d = {}; cudaMallocArray(&a, &d, 4); }
void forks(float *x, float *y, int n) { if (fork() == 0) k<<<1, 1>>>(x, y, n); }
void starts(float *x, float *y, int n) { if (system("true")) k<<<1, 1>>>(x, y, n); }
void registers_memory(float *x, float *y, int n) { cudaHostRegister(malloc(4), 4, 0); }
void deepens_the_stack(float *x, float *y, int n) {
    cudaDeviceSetLimit(cudaLimitStackSize, 1024);
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
}
void gives_clusters(float *x, float *y, int n) {
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim = {2, 1, 1};
    c.gridDim = 2, c.blockDim = 32, c.attrs = a, c.numAttrs = 1;
    cudaLaunchKernelEx(&c, k, (const float *)x, y, n);
}

void launches_what_is_unplanned(float *x, float *y, int n) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, takes_memory, 32, 0);
    takes_memory<<<blocks, 1>>>((float **)y);
}
void leaves_it_out(float *x, float *y, int n) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, takes_memory, 32, 0);
    k<<<blocks, 1>>>(x, y, n);
}

void draws_lots(float *x, float *y, int n) {
    unsigned lot;
    getrandom(&lot, sizeof lot, 0);
    k<<<1 + lot % 1000, 1>>>(x, y, n);
}
void copies_lots(float *x, float *y, int n) {
    unsigned lots[2];
    getrandom(lots, sizeof lots, 0);
    cudaMemcpy(y, lots, sizeof lots, cudaMemcpyHostToDevice);
}

void too_many_threads(float *x, float *y, int n) {
    k<<<1, 2048>>>(x, y, n);
}
void no_blocks(float *x, float *y, int n) { k<<<0, 32>>>(x, y, n); }
void too_many_along_y(float *x, float *y, int n) { k<<<dim3(1, 70000), 32>>>(x, y, n); }
void too_deep(float *x, float *y, int n) { k<<<1, dim3(1, 1, 128)>>>(x, y, n); }
void beyond_bounds(float *x, float *y, int n) { few<<<1, 128>>>(y); }
void too_much_shared(float *x, float *y, int n) { big<<<1, 32, 60000>>>(y); }
void asks_too_much(float *x, float *y, int n) {
    cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000);
}
void checked(float *x, float *y, int n) {
    k<<<1, 2048>>>(x, y, n);
    CHECK(cudaGetLastError());
}
void exits(float *x, float *y, int n) { exit(3); }
void aborts(float *x, float *y, int n) { abort(); }
void asserts(float *x, float *y, int n) { assert(n < 0); }
void throws(float *x, float *y, int n) { throw std::runtime_error("not today"); }
void out_of_range(float *x, float *y, int n) { std::vector<int> v(1); v.at(n) = 1; }
void crashes(float *x, float *y, int n) {
    int *p = nullptr;
    *p = 1;
}
void divides(float *x, float *y, int n) { volatile int zero = 0; k<<<1, n / zero>>>(x, y, n); }
void recurses(float *x, float *y, int n) { volatile char c[4096]; c[0] = 0; recurses(x, y, n + c[0]); c[1] = 1; }
void forever(float *x, float *y, int n) {
    for (volatile int i = 0; n > 0; i = i + 1) ;
}
void too_much_memory(float *x, float *y, int n) { float *t; cudaMalloc(&t, 1ull << 40); k<<<1, 1>>>(t, y, n); }
void used_after_free(float *x, float *y, int n) { float *t; cudaMalloc(&t, 4); cudaFree(t); k<<<1, 1>>>(t, y, n); }
void from_the_host(float *x, float *y, int n) { cudaMemcpy(y, x, 4, cudaMemcpyHostToDevice); }
void past_symbol(float *x, float *y, int n) { float h[2] = {}; cudaMemcpyToSymbol(total, h, 8); }
void short_pitch(float *x, float *y, int n) { cudaMemset2D(y, 2, 0, 4, 2); }
void no_such_device(float *x, float *y, int n) { cudaSetDevice(1); k<<<1, 1>>>(x, y, n); }
void without_end(float *x, float *y, int n) { for (;;) cudaMemset(y, 0, 4), cudaMemset(y, 1, 4); }
void in_a_thread(float *x, float *y, int n) { std::thread([=] { k<<<1, 2048>>>(x, y, n); }).join(); }
}
"""


@pytest.fixture(scope="module")
def built() -> bytes:
    made = build(SOURCE, "copies", elementwise(100))
    assert isinstance(made, bytes), made
    return made


def line_of(symbol: str, text: str) -> int:
    begin = SOURCE.index(text, SOURCE.index(f"void {symbol}("))
    return SOURCE.count("\n", 0, begin) + 1


@needs_nvcc
@pytest.mark.parametrize(("symbol", "why", "operator", "at"), [
    ("brings_back", "read_values", "cudaMemcpy", "cudaMemcpy"),
    ("brings_back_any", "read_values", "cudaMemcpy", ""),
    ("from_symbol", "read_values", "cudaMemcpyFromSymbol", ""),
    ("managed", "read_values", "cudaMallocManaged", ""),
    ("reads", "read_values", "x", "printf"),
    ("reads_temporary", "read_values", "memory of cudaMalloc", ""),
    ("copies", "copy", "cudaMemcpy", ""),
    ("writes_input", "input_written", "cudaMemset", ""),
    ("library", "library", "cublasCreate_v2", ""),
    ("driver", "process", "dlopen", ""),
    ("unknown", "other", "cudaMallocArray", ""),
    ("forks", "process", "fork", ""),
    ("starts", "process", "system", ""),
    ("registers_memory", "option", "cudaHostRegister", ""),
    ("gives_clusters", "option", "cudaLaunchAttributeClusterDimension", "cudaLaunchKernelEx"),
])  # fmt: skip
def test_host_code_is_refused_what_makes_numbers(built: bytes, symbol: str, why: str, operator: str, at: str) -> None:
    (found,) = plan(with_function(built, symbol), elementwise(100))
    assert isinstance(found, Refused), found
    assert (found.why, found.operator, found.line) == (why, operator, line_of(symbol, at)), found
    assert found.traceback.startswith(f"line {found.line}: ")


@needs_nvcc
@pytest.mark.parametrize(("symbol", "at", "message"), [
    ("too_many_threads", "k<<<", "the launch fails: a block has 1 to 1024 threads, this one has 2048"),
    ("no_blocks", "", "the launch fails: a grid has at least one block, this one is 0 x 1 x 1"),
    ("too_many_along_y", "", "the launch fails: a grid has at most 2147483647 blocks along x and 65535 along y and z, "
                             "this one is 1 x 70000 x 1"),
    ("too_deep", "", "the launch fails: a block has at most 64 threads along z, this one has 128"),
    ("beyond_bounds", "", "the launch fails: __launch_bounds__ of this kernel allows blocks of 64 threads, this "
                          "one has 128"),
    ("too_much_shared", "", "the launch fails: a block has 49152 bytes of shared memory unless cudaFuncSetAttribute "
                            "asks for more, this one takes 60000"),
    ("asks_too_much", "cudaFunc", "cudaFuncSetAttribute: a block has at most 232448 bytes of shared memory, 300000 are "
                                  "asked for"),
    ("checked", "k<<<", "the launch fails: a block has 1 to 1024 threads, this one has 2048"),
    ("exits", "", "host code ends its process: exit(3)"),
    ("aborts", "", "host code ends its process: abort()"),
    ("draws_lots", "k<<<", "host code asks the GPU for something else each time it is called, with the same arguments"),
    ("copies_lots", "cudaMemcpy",
     "host code copies something else to the GPU each time it is called, with the same arguments"),
    ("asserts", "", "an assertion of host code fails"),
    ("throws", "", "host code throws: not today"),
    ("out_of_range", "", "host code throws: vector::_M_range_check: __n (which is 100) >= this->size() (which is 1)"),
    ("crashes", "*p = 1", "host code crashes: it accesses memory that is not there (SEGV)"),
    ("divides", "", "host code crashes: it divides a whole number by zero (FPE)"),
    ("recurses", "", "host code crashes: it accesses memory that is not there (SEGV)"),
    ("used_after_free", "", "the launch gives k memory that was freed before"),
    ("from_the_host", "", "cudaMemcpy: its source `x` lies in GPU memory already, and this copy reads from the host's: "
                          "give it to the kernel as it is"),
    ("past_symbol", "", "cudaMemcpyToSymbol: the variable has 4 bytes, and 8 are copied to byte 0 of it"),
    ("short_pitch", "", "cudaMemset2D: the pitch is less than the width of 4 bytes"),
    ("no_such_device", "", "there is one GPU, number 0; this asks for number 1"),
    ("in_a_thread", "", "the launch fails: a block has 1 to 1024 threads, this one has 2048"),
])  # fmt: skip
def test_host_code_fails_where_a_gpus_would(built: bytes, symbol: str, at: str, message: str) -> None:
    (found,) = plan(with_function(built, symbol), elementwise(100))
    assert isinstance(found, Failed), found
    assert (found.failure, found.message, found.line) == ("exception", message, line_of(symbol, at))


SIGNALS = """#include <cuda_runtime.h>
#include <csignal>
static int caught;
static void catches(int) { caught = 1; }
extern "C" {
void kills_itself(float *x, float *y, int n) { raise(SIGKILL); }
void kills_its_group(float *x, float *y, int n) {
    signal(SIGTERM, SIG_IGN), raise(SIGTERM), raise(SIGCHLD);
    signal(SIGTERM, catches), raise(SIGTERM);
    signal(SIGTERM, SIG_DFL);
    if (caught) kill(0, SIGTERM);
}
void asks_after_another(float *x, float *y, int n) { if (kill(1, 0) || !raise(0)) cudaMemset(y, 0, 4); }
}
"""


@needs_nvcc
def test_a_signal_does_to_host_code_what_it_does_outside() -> None:
    made = build(SIGNALS, "kills_itself", elementwise(100))
    assert isinstance(made, bytes), made
    for symbol, message in (("kills_itself", "raise(SIGKILL)"), ("kills_its_group", "kill(SIGTERM)")):
        (found,) = plan(with_function(made, symbol), elementwise(100))
        assert isinstance(found, Failed) and found.message == f"host code ends its process: {message}", found
    (found,) = plan(with_function(made, "asks_after_another"), elementwise(100))
    assert isinstance(found, Plan), found


@needs_nvcc
def test_a_deeper_stack_is_not_supported(built: bytes) -> None:
    (found,) = plan(with_function(built, "deepens_the_stack"), elementwise(100))
    assert isinstance(found, Failed), found
    assert (found.failure, found.line) == ("unsupported", line_of("deepens_the_stack", "cudaLimitStackSize, 16384"))
    assert found.message.startswith("this asks for a stack of 16384 bytes, and each thread has 1024 here")


@needs_nvcc
def test_a_kernel_that_cannot_be_planned_fails_where_it_is_launched(built: bytes) -> None:
    (found,) = plan(with_function(built, "launches_what_is_unplanned"), elementwise(100))
    assert isinstance(found, Failed), found
    assert (found.failure, found.line) == ("unsupported", SOURCE[: SOURCE.index("void takes_memory")].count("\n") + 1)
    assert found.message.startswith("This kernel calls malloc (or new)")
    assert isinstance(plan(with_function(built, "leaves_it_out"), elementwise(100))[0], Plan)


@needs_nvcc
@pytest.mark.parametrize(("symbol", "failure", "seconds"), [
    ("forever", "time_out", 5), ("too_much_memory", "out_of_memory", 20), ("without_end", "too_large", 20)])
def test_host_code_is_bounded(built: bytes, symbol: str, failure: str, seconds: float) -> None:
    (found,) = plan(with_function(built, symbol), elementwise(100), seconds=seconds)
    assert isinstance(found, Failed), found
    assert found.failure == failure and found.line in range(line_of(symbol, ""), line_of(symbol, "") + 2)


@needs_nvcc
def test_a_planner_goes_on_after_host_code_that_failed(built: bytes) -> None:
    source = "extern \"C\" void silu(float *x, float *y, int n) { if (n == 1) *(volatile int *)0 = 1; }"
    made = build(source, "silu", elementwise(1))
    assert isinstance(made, bytes)
    first, second = plan(made, elementwise(1), elementwise(2))
    assert isinstance(first, Failed) and isinstance(second, Plan) and not second.first


@needs_nvcc
@pytest.mark.parametrize(("body", "attempted"), [
    ("\n    // not written yet: silu\n", False), ("\n    // silu: not written yet\n    int blocks = n / 256;\n", False),
    ("\n    // not written yet: silu\n    k<<<1, 256>>>(x, y, n);\n", True), ("\n", True),
    ("\n    // not written yet: gelu\n", True),
])  # fmt: skip
def test_a_stub_that_asks_for_nothing_is_not_attempted(body: str, attempted: bool) -> None:
    source = f"__global__ void k(const float *x, float *y, int n) {{}}\nvoid silu(float *x, float *y, int n) {{{body}}}"
    made = build(source, "silu", elementwise(100))
    assert isinstance(made, bytes), made
    (found,) = plan(made, elementwise(100), text=source)
    if attempted:
        assert isinstance(found, Plan), found
    else:
        assert isinstance(found, Failed), found
        assert (found.failure, found.line) == ("not_attempted", 3)
