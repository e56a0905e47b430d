"""Plans of host code: what it may ask for, and in which operations that ends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grader.home import ROOT
from grader.judging.plans.rules import check
from grader.plan.device import TARGETS, with_features
from grader.plan.messages import Answers, Given, Resources, kernel_key
from grader.plan.plan import Copy, Data, Fill, Integer, Launch, Operation, Plan, Pointer, Structure
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import (
    DEVICE,
    build,
    contents_of,
    elementwise,
    plan,
    size,
    tensor,
    with_function,
)

pytestmark = needs_nvcc
SIZE = 1000

SOURCE = """#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>
struct Pair { const float *from; float *to; int n; };
__device__ float total;
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void paired(Pair p) { int i = threadIdx.x; if (i < p.n) p.to[i] = p.from[i]; }
__global__ void add(const float *x, int n) {
    if (threadIdx.x < n) atomicAdd(&total, x[threadIdx.x] * table[threadIdx.x & 3]);
}
__global__ void tiled(const float *x, float *y, int n) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[0];
    y[0] = tile[0];
}
template <int B> __global__ void __launch_bounds__(B) bounded(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x];
}
#define BLOCKS (n + 255) / 256

extern "C" {
void plain(float *input, float *output, int n) { scale<<<BLOCKS, 256>>>(input, output, n); }
void halves(float *input, float *output, int n) {
    auto go = [&](int from, int to) { paired<<<1, 512>>>(Pair{input + from, output + from, to - from}); };
    go(0, n / 2);
    go(n / 2, n);
}
void temporary(float *input, float *output, int n) {
    float *t;
    cudaMalloc(&t, n * sizeof(float));
    scale<<<BLOCKS, 256>>>(input, t, n);
    cudaMemset(t, 0, 8);
    scale<<<BLOCKS, 256>>>(t, output, n);
    cudaFree(t);
}
void kept(float *input, float *output, int n) {
    static float *t = nullptr;
    if (!t) cudaMalloc(&t, n * sizeof(float));
    scale<<<BLOCKS, 256>>>(input, t, n);
    scale<<<BLOCKS, 256>>>(t, output, n);
}
void symbols(float *input, float *output, int n) {
    float zero = 0, four[] = {4, 3, 2, 1};
    cudaMemcpyToSymbol(total, &zero, sizeof zero);
    cudaMemcpyToSymbol(table, four, sizeof four);
    add<<<1, 256>>>(input, n);
}
void symbol_address(float *input, float *output, int n) {
    float *at;
    cudaGetSymbolAddress((void **)&at, total);
    cudaMemsetAsync(at, 0, 4);
    add<<<1, 256>>>(input, n);
}
void constants(float *input, float *output, int n) {
    std::vector<int> ramp(8);
    for (int i = 0; i < 8; i++) ramp[i] = i;
    int *t;
    cudaMalloc(&t, 32);
    cudaMemcpy(t, ramp.data(), 32, cudaMemcpyHostToDevice);
    scale<<<BLOCKS, 256>>>((float *)t, output, n);
}
void part_of_constants(float *input, float *output, int n) {
    int two[] = {7, 7, 9};
    int *t;
    cudaMalloc(&t, 32);
    cudaMemcpy(t + 1, two, 12, cudaMemcpyHostToDevice);
    scale<<<BLOCKS, 256>>>((float *)t, output, n);
}
void streams(float *input, float *output, int n) {
    cudaStream_t s[2];
    cudaEvent_t e;
    cudaEventCreate(&e);
    for (auto &one : s) cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    scale<<<BLOCKS, 256, 0, s[0]>>>(input, output, n);
    cudaEventRecord(e, s[0]);
    cudaStreamWaitEvent(s[1], e, 0);
    scale<<<BLOCKS, 256, 0, s[1]>>>(input, output, n);
    cudaStreamSynchronize(s[1]);
    float ms;
    cudaEventElapsedTime(&ms, e, e);
    printf("%f\\n", ms);
}
void graph(float *input, float *output, int n) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    scale<<<BLOCKS, 256, 0, s>>>(input, output, n);
    cudaMemsetAsync(output, 0, 4, s);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&e, g, 0);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(e, s);
}
void extended(float *input, float *output, int n) {
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(BLOCKS);
    c.blockDim = dim3(256);
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = 1;
    c.attrs = a;
    c.numAttrs = 1;
    cudaLaunchKernelEx(&c, scale, (const float *)input, output, n);
}
void cooperative(float *input, float *output, int n) {
    void *a[] = {&input, &output, &n};
    cudaLaunchCooperativeKernel((void *)scale, 2, 64, a, 0, 0);
}
void occupied(float *input, float *output, int n) {
    int blocks;
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 1024, 0);
    scale<<<blocks * p.multiProcessorCount, 1024>>>(input, output, n);
}
void shared(float *input, float *output, int n) {
    cudaFuncSetAttribute(tiled, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    tiled<<<1, 32, 100000>>>(input, output, n);
}
void threads(float *input, float *output, int n) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) all.emplace_back([] { cudaSetDevice(0); });
    for (auto &one : all) one.join();
    scale<<<BLOCKS, 256>>>(input, output, n);
}
void tries_again(float *input, float *output, int n) {
    scale<<<1, 4096>>>(input, output, n);
    if (cudaGetLastError() != cudaSuccess) scale<<<BLOCKS, 256>>>(input, output, n);
}
void never_called(float *input, float *output, int n) {
    if (n < 0) cudaMallocManaged(&input, n);
    scale<<<BLOCKS, 256>>>(input, output, n);
}
void copies(float *input, float *output, int n) {
    cudaMemcpy(output, input, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaMemcpy2D(output, 8, input + 1, 16, 4, 10, cudaMemcpyDeviceToDevice);
}
void own_copy(float *input, float *output, int n) {
    float *t;
    cudaMallocAsync(&t, n * sizeof(float), 0);
    scale<<<BLOCKS, 256>>>(input, t, n);
    cudaMemcpyAsync(output, t, n * sizeof(float), cudaMemcpyDefault, 0);
    cudaFreeAsync(t, 0);
}
void pinned(float *input, float *output, int n) {
    float *p;
    cudaMallocHost(&p, 8);
    p[0] = p[1] = 3;
    scale<<<1, 2>>>(p, output, 2);
    p[1] = 4;
    scale<<<1, 2>>>(p, output, 2);
    cudaFreeHost(p);
}
void caught(float *input, float *output, int n) {
    try { throw std::runtime_error("no"); } catch (const std::exception &) { }
    bounded<64><<<1, 64>>>(input, output);
}
void two_dimensions(float *input, float *output, int n) {
    float *t;
    size_t pitch;
    cudaMallocPitch(&t, &pitch, 40, 10);
    cudaMemset2D(t, pitch, 255, 40, 10);
    scale<<<1, 10>>>(t, output, 10);
}
}
"""


@pytest.fixture(scope="module")
def built() -> bytes:
    made = build(SOURCE, "plain", elementwise(SIZE))
    assert isinstance(made, bytes), made
    return made


def planned(
    built: bytes, symbol: str, given: Sequence[Given] | None = None, *, copies: bool = False,
    answers: Answers | None = None,
) -> Plan:
    """The plan of a function, which the judge takes."""
    given = elementwise(SIZE) if given is None else given
    (found,) = plan(with_function(built, symbol), given, copies=copies, answers=answers)
    assert isinstance(found, Plan), found
    assert not check(found, given, device=DEVICE, copies=copies)
    return found


def line_of(text: str, after: str = "") -> int:
    """The line of the source that a text stands in first, after another."""
    begin = SOURCE.index(after) if after else 0
    return SOURCE.count("\n", 0, SOURCE.index(text, begin)) + 1


def words(operations: Sequence[Operation]) -> str:
    return " ".join(one.op for one in operations)


@pytest.mark.parametrize(("symbol", "copies", "first", "steady"), [
    ("plain", False, "launch", None),
    ("halves", False, "launch launch", None),
    ("temporary", False, "launch fill launch", None),
    ("kept", False, "launch launch", "launch launch"),
    ("symbols", False, "fill data launch", "fill data launch"),
    ("symbol_address", False, "fill launch", "fill launch"),
    ("constants", False, "data launch", None),
    ("part_of_constants", False, "fill fill launch", None),
    ("streams", False, "launch launch", None),
    ("graph", False, "launch fill launch fill launch fill", None),
    ("extended", False, "launch", None),
    ("cooperative", False, "launch", None),
    ("occupied", False, "launch", None),
    ("shared", False, "launch", None),
    ("threads", False, "launch", None),
    ("tries_again", False, "launch", None),
    ("never_called", False, "launch", None),
    ("copies", True, "copy copy", None),
    ("own_copy", False, "launch copy", None),
    ("pinned", False, "fill launch fill launch", None),
    ("caught", False, "launch", None),
    ("two_dimensions", False, "fill launch", None),
])  # fmt: skip
def test_host_code_asks_for_operations(built: bytes, symbol: str, copies: bool, first: str, steady: str | None) -> None:
    found = planned(built, symbol, copies=copies)
    assert words(found.first) == first
    assert (None if found.steady is None else words(found.steady)) == steady


def test_a_launch_has_the_students_names_lines_and_numbers(built: bytes) -> None:
    found = planned(built, "plain")
    assert [(one.given, one.bytes, one.place) for one in found.buffers] == [
        ("x", 4 * SIZE, "device"), ("out", 4 * SIZE, "device")]
    (kernel,), (launch,) = found.kernels, found.first
    assert isinstance(launch, Launch)
    assert (kernel.language, kernel.name, kernel.line) == ("cuda", "scale", line_of("__global__ void scale"))
    assert (launch.grid, launch.block, launch.line) == ((4, 1, 1), (256, 1, 1), line_of("void plain"))
    assert launch.arguments == [Pointer(buffer=0), Pointer(buffer=1), Integer(type="u32", value=SIZE)]


def test_a_structure_has_pointers_and_nothing_of_what_was_in_memory(built: bytes) -> None:
    first, second = (one.arguments[0] for one in planned(built, "halves").first if isinstance(one, Launch))
    assert isinstance(first, Structure) and isinstance(second, Structure)
    assert [(one.at, one.buffer, one.offset) for one in second.pointers] == [(0, 0, 2 * SIZE), (8, 1, 2 * SIZE)]
    assert first.contents == second.contents


def test_memory_of_an_earlier_call_is_named_as_it_was(built: bytes) -> None:
    found = planned(built, "kept")
    temporary = found.buffers[2]
    assert temporary.line == line_of("if (!t) cudaMalloc") and not temporary.kept
    assert found.steady == found.first and len(found.buffers) == 3


def test_variables_are_buffers_with_their_first_contents(built: bytes) -> None:
    found = planned(built, "symbol_address")
    (launch,) = (one for one in found.first if isinstance(one, Launch))
    total, table = (one.buffer for one in launch.arguments[2:] if isinstance(one, Pointer))
    assert [(found.buffers[one].bytes, found.buffers[one].kept) for one in (total, table)] == [(4, True), (16, True)]
    initial = {one.buffer: one for one in found.setup if isinstance(one, Data)}
    assert initial[table].contents == "AACAPwAAAEAAAEBAAACAQA=="
    assert [one.target.buffer for one in found.setup if isinstance(one, Fill)] == [total]


def test_options_of_launches(built: bytes) -> None:
    def launch(symbol: str) -> Launch:
        return next(one for one in planned(built, symbol).first if isinstance(one, Launch))

    # It may begin early, and need not.
    assert not launch("extended").programmatic
    assert launch("cooperative").cooperative and launch("cooperative").grid == (2, 1, 1)
    assert launch("shared").shared == 100_000


def test_a_copy_of_rows_keeps_their_distance(built: bytes) -> None:
    _, rows = (one for one in planned(built, "copies", copies=True).first if isinstance(one, Copy))
    assert (rows.source.offset, rows.source.shape, rows.source.strides) == (4, [10, 1], [4, 1])
    assert (rows.target.offset, rows.target.shape, rows.target.strides) == (0, [10, 1], [2, 1])


def test_pinned_memory_holds_what_was_written_since(built: bytes) -> None:
    first, second = (one for one in planned(built, "pinned").first if isinstance(one, Fill))
    assert (first.target.shape, second.target.shape, second.target.offset) == ([2], [1], 4)


def test_an_occupancy_is_a_guess_until_the_kernel_is_compiled(built: bytes) -> None:
    guessed = planned(built, "occupied")
    assert guessed.asked == [0]
    known = Answers(resources={kernel_key(guessed.kernels[0]): Resources(registers=64, spills=0, shared=0)})
    told = planned(built, "occupied", answers=known)
    assert told.asked == []
    first, second = guessed.first[0], told.first[0]
    assert isinstance(first, Launch) and isinstance(second, Launch)
    assert (first.grid, second.grid) == ((2 * 132, 1, 1), (132, 1, 1))


def test_calls_of_several_cases_know_of_the_first_alone(built: bytes) -> None:
    cases = [elementwise(size) for size in (5, 300, 7)]
    found = plan(with_function(built, "kept"), *cases)
    assert [one.buffers[2].bytes for one in found if isinstance(one, Plan)] == [4 * 5] * 3


def test_the_builder_finds_the_function_and_the_names_of_its_parameters(built: bytes) -> None:
    found = contents_of(built)
    assert found.symbol == "plain"
    assert [(one.name, one.type) for one in found.parameters] == [
        ("input", "pointer"), ("output", "pointer"), ("n", "int")]
    assert {one.name for one in found.entries} == {"scale", "paired", "add", "tiled", "bounded<64>"}


@pytest.mark.parametrize(("target", "sizes", "kernel", "blocks"), [
    ("sm_90", (4096, 4096, 512), "hopper_kernel", 132), ("sm_90", (4096, 4097, 512), "gemm_kernel", 4160),
    ("sm_80", (4096, 4096, 512), "gemm_kernel", 512), ("sm_100", (4096, 4096, 512), "gemm_kernel", 512),
    ("sm_121", (4096, 4096, 512), "gemm_kernel", 4096)])
def test_code_for_one_generation_alone(target: str, sizes: tuple[int, int, int], kernel: str, blocks: int) -> None:
    """The reference's kernel for Hopper is there if it was compiled for Hopper, with features that no later GPU has."""
    rows, columns, inner = sizes
    given: list[Given] = [
        tensor("a", rows, inner, dtype="float16"), tensor("b", inner, columns, dtype="float16"),
        tensor("out", rows, columns, dtype="float16", output=True),
        *(size(name, value) for name, value in zip("MNK", sizes, strict=True))]
    source = (ROOT / "reference/cuda/gemm.cu").read_text(encoding="utf-8")
    made = build(source, "gemm", given, TARGETS[target])
    assert isinstance(made, bytes), made
    (found,) = plan(made, given, device=TARGETS[target], text=source)
    assert isinstance(found, Plan), found
    (launch,) = (one for one in found.first if isinstance(one, Launch))
    name = found.kernels[launch.kernel].name.partition("<")[0]
    assert (name, launch.grid) == (kernel, (blocks, 1, 1))
    assert f".target {with_features(target)}\n" in found.kernels[launch.kernel].text
