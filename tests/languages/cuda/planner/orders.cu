#include <cuda_runtime.h>
#include <sys/mman.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <thread>
#include <vector>
#define PAGE 4096ul
#define GATHER(name, ...) void name(float *h_A, float *d_A, int rows, int cols) { \
    std::vector<float> v(rows); \
    auto read = [&](int i) { v[i] = h_A[(size_t)i * cols]; }; \
    __VA_ARGS__; \
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), cudaMemcpyHostToDevice); }
#define APPEND(name, ...) void name(float *h_A, float *d_A, int rows, int cols) { \
    std::vector<float> v; \
    auto take = [&](size_t at) { v.push_back(h_A[at]); }; \
    __VA_ARGS__; \
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), cudaMemcpyHostToDevice); }

static void in_any_order(int rows, void (*read)(int, void *), void *with) {
    std::vector<int> order(rows);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    for (int i : order) read(i, with);
}
// Takes all mappings that Linux gives a process, and gives some back.
static void take_mappings(int back) {
    char *m = (char *)mmap(0, 140000 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (long i = 0; i < 70000 && !mprotect(m + 2 * i * PAGE, PAGE, PROT_READ); i++) continue;
    if (back) munmap(m + PAGE, back * PAGE);
}
extern "C" {
GATHER(up, for (int i = 0; i < rows; i++) read(i))
GATHER(down, for (int i = rows; i--;) read(i))
GATHER(twice_down, for (int i = rows; i--;) read(i); for (int i = rows; i--;) read(i))
GATHER(down_and_up, for (int i = rows; i--;) read(i); for (int i = 0; i < rows; i++) read(i))
GATHER(both_ends, for (int i = 0; i < rows; i++) read(i % 2 ? rows - 1 - i / 2 : i / 2))
GATHER(odd_rows_down, for (int odd = 2; odd--;) for (int i = (rows - 1 - odd) / 2; i >= 0; i--) read(2 * i + odd))
GATHER(sevenths_down, for (int j = 0; j < 7; j++) for (int i = rows - 1 - j; i >= 0; i -= 7) read(i))
GATHER(blocks_down, for (int b = (rows + 63) / 64; b--;)
       for (int i = 64 * b; i < std::min(rows, 64 * b + 64); i++) read(i))
GATHER(any_order, in_any_order(rows, [](int i, void *of) { (*(decltype(read) *)of)(i); }, &read))
GATHER(by_threads, std::vector<std::thread> all;
       for (int t = 0; t < 2; t++) all.emplace_back([&, t] { for (int i = rows - 1 - t; i >= 0; i -= 2) read(i); });
       for (auto &one : all) one.join())
GATHER(few_mappings, take_mappings(60);
       in_any_order(rows, [](int i, void *of) { (*(decltype(read) *)of)(i); }, &read))
GATHER(no_mappings, take_mappings(0); read(0))
APPEND(reversed, for (int i = rows; i--;) take((size_t)i * cols))
APPEND(pairs_reversed, for (int i = rows / 2; i--;) take((size_t)2 * i * cols), take((size_t)2 * i * cols + 1))
APPEND(turned_pairs, for (int i = 0; i < rows / 3; i++) for (int j = 3; j--;) take((size_t)i * cols + j))
void two_vectors(float *h_x, float *h_y, float *out, int n) {
    std::vector<float> v(2 * n);
    for (int i = n; i--;) v[i] = h_x[i], v[n + i] = h_y[i];
    cudaMemcpy(out, v.data(), 2 * n * sizeof(float), cudaMemcpyHostToDevice);
}
}
