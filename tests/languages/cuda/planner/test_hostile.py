"""Host code that disturbs its planning: the planner answers, in time, and goes on."""

from __future__ import annotations

import time

import pytest

from grader.plan.messages import Failed
from grader.plan.plan import Launch, Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import build, elementwise, plan, with_function

pytestmark = needs_nvcc

SOURCE = """#include <cuda_runtime.h>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>
__global__ void k(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
extern "C" {
void rec_end(void);
void rec_call(int);
uint64_t rec_given(int, uint64_t, int, int);
extern char **environ;

void launches(float *x, float *y, int n) { k<<<1, 64>>>(x, y, n); }
void ends_early(float *x, float *y, int n) { rec_end(); k<<<1, 64>>>(x, y, n); }
void calls_more(float *x, float *y, int n) { for (int i = 0; i < 9; i++) rec_call(i); launches(x, y, n); }
void takes_more(float *x, float *y, int n) { launches((float *)rec_given(0, 1 << 20, 0, 1), y, n); }
void takes_unknown(float *x, float *y, int n) { rec_given(2, 4, 0, 1); launches(x, y, n); }
void writes_everywhere(float *x, float *y, int n) {
    std::vector<unsigned> noise(1 << 14, 0x01010101u);
    for (int file = 3; file < 300; file++) if (write(file, noise.data(), 4 * noise.size()) < 0) continue;
    launches(x, y, n);
}
void forges_a_record(float *x, float *y, int n) {
    unsigned record[] = {2, 0, 4, 0xfffffff0u, 1, 0, 2, 0, 3, 0, 4, 0};
    for (int file = 3; file < 300; file++) if (write(file, record, sizeof record) < 0) continue;
}
void forges_launches(float *x, float *y, int n) {
    unsigned record[4 + 18] = {5, 0, 9, 0};
    for (int i = 4; i < 22; i++) record[i] = 0xffffffffu;
    for (int file = 3; file < 300; file++) if (write(file, record, sizeof record) < 0) continue;
}
void floods(float *x, float *y, int n) {
    std::vector<char> noise(1 << 20, 0);
    for (;;) for (int file = 3; file < 300; file++) if (write(file, noise.data(), noise.size()) < 0) continue;
}
void closes_all(float *x, float *y, int n) { for (int file = 0; file < 300; file++) close(file); launches(x, y, n); }
void leaves_a_thread(float *x, float *y, int n) {
    std::thread([] { for (;;) ; }).detach();
    launches(x, y, n);
}
void leaves_a_process(float *x, float *y, int n) {
    if (syscall(SYS_fork) == 0) { sleep(6); syscall(SYS_exit_group, 0); }
    launches(x, y, n);
}
void ignores_signals(float *x, float *y, int n) {
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    for (volatile int i = 0;; i = i + 1) ;
}
void catches_faults(float *x, float *y, int n) {
    signal(SIGSEGV, [](int) { syscall(SYS_exit_group, 0); });
    *x = 1;
}
void kills_itself(float *x, float *y, int n) { kill(getpid(), SIGKILL); }
void leaves_silently(float *x, float *y, int n) { syscall(SYS_exit_group, 0); }
void leaves_a_loop(float *x, float *y, int n) { pthread_exit(nullptr); }
void maps_the_gpu(float *x, float *y, int n) {
    void *page = (void *)((uintptr_t)x & ~4095ull);
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (x[0] == 0) launches(x, y, n);
}
void takes_all_memory(float *x, float *y, int n) { for (;;) memset(new char[1 << 28], 1, 1); }
void breaks_the_stack(float *x, float *y, int n) {
    char c[16];
    memset(c, 0x41, 4096);
    launches(x, y, n);
}
void breaks_the_heap(float *x, float *y, int n) { float *p = new float[4]; delete[] p; delete[] p; launches(x, y, n); }
void depends_on_chance(float *x, float *y, int n) {
    k<<<1 + getpid() % 50000, 64>>>(x, y, n);
}
void copies_chance(float *x, float *y, int n) {
    int id = getpid();
    cudaMemcpy(y, &id, 4, cudaMemcpyHostToDevice);
}
}
"""


@pytest.fixture(scope="module")
def built() -> bytes:
    made = build(SOURCE, "launches", elementwise(100))
    assert isinstance(made, bytes), made
    return made


@pytest.mark.parametrize(("symbol", "answers"), [
    ("ends_early", (Failed,)), ("calls_more", (Failed, Plan)), ("takes_more", (Failed, Plan)),
    ("takes_unknown", (Failed,)), ("writes_everywhere", (Failed,)), ("forges_a_record", (Failed,)),
    ("forges_launches", (Failed,)), ("floods", (Failed,)), ("closes_all", (Failed,)), ("leaves_a_thread", (Plan,)),
    ("leaves_a_process", (Plan,)), ("ignores_signals", (Failed,)), ("catches_faults", (Failed,)),
    ("kills_itself", (Failed,)), ("leaves_silently", (Failed,)), ("leaves_a_loop", (Failed,)),
    ("maps_the_gpu", (Plan,)), ("takes_all_memory", (Failed,)), ("breaks_the_stack", (Failed, Plan)),
    ("breaks_the_heap", (Failed, Plan)), ("depends_on_chance", (Failed,)), ("copies_chance", (Failed,)),
])  # fmt: skip
def test_a_planner_answers_and_goes_on(built: bytes, symbol: str, answers: tuple[type, ...]) -> None:
    before = time.monotonic()
    # What ends by itself has time on a busy machine, though less than a process lives that it leaves.
    seconds = 2 if answers == (Failed,) else 5
    first, second = plan(with_function(built, symbol), elementwise(100), elementwise(7), seconds=seconds)
    assert isinstance(first, answers), first
    assert isinstance(second, answers), second
    assert time.monotonic() - before < 30


@pytest.mark.parametrize(("loading", "failure"), [
    ("for (;;) ;", "time_out"), ("exit(1);", "exception"), ("*(volatile int *)8 = 1;", "exception"),
    ("throw 1;", "exception")])
def test_what_a_file_does_while_it_is_loaded_counts(loading: str, failure: str) -> None:
    source = f"#include <cstdlib>\n__attribute__((constructor(101))) static void load() {{\n  {loading}\n}}\n"
    made = build(source + "void silu(float *x, float *y, int n) {}", "silu", elementwise(4))
    assert isinstance(made, bytes), made
    (found,) = plan(made, elementwise(4), seconds=1)
    assert isinstance(found, Failed), found
    # A loop without a body has the line of its function.
    assert found.failure == failure and found.line in (2, 3), found


def test_memory_that_loading_takes_is_kept() -> None:
    source = """__global__ void k(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
struct Scratch { float *at; Scratch() { cudaMalloc(&at, 64); cudaMemset(at, 0, 64); } ~Scratch() { cudaFree(at); } };
static Scratch scratch;
void silu(float *x, float *y, int n) { k<<<1, 16>>>(scratch.at, y); }"""
    made = build(source, "silu", elementwise(16))
    assert isinstance(made, bytes), made
    (found,) = plan(made, elementwise(16))
    assert isinstance(found, Plan), found
    assert [one.op for one in found.setup] == ["fill"] and found.steady == found.first
    assert isinstance(found.first[0], Launch) and found.buffers[2].kept and found.buffers[2].line == 2
