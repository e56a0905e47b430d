#include <cuda_runtime.h>
#include <sys/random.h>
#include <cstring>
#include <thread>
#include <vector>
__global__ void first(const float *h, float *d, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) d[i] = h[(size_t)i * cols];
}
#define TO_DEVICE cudaMemcpyHostToDevice
extern "C" {
void rows_at_once(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy2D(d_A, 4, h_A, cols * sizeof(float), 4, rows, TO_DEVICE);
}
void vector(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void in_chunks(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    for (int i = 0; i < rows; i += 32) cudaMemcpyAsync(d_A + i, &v[i], 32 * sizeof(float), TO_DEVICE);
}
void one_by_one(float *h_A, float *d_A, int rows, int cols) {
    for (int i = 0; i < rows; i++) cudaMemcpy(d_A + i, h_A + (size_t)i * cols, sizeof(float), TO_DEVICE);
}
void by_a_variable(float *h_A, float *d_A, int rows, int cols) {
    for (int i = 0; i < rows; i++) {
        float v = h_A[(size_t)i * cols];
        cudaMemcpy(d_A + i, &v, sizeof v, TO_DEVICE);
    }
}
void pinned(float *h_A, float *d_A, int rows, int cols) {
    float *p;
    cudaMallocHost(&p, rows * sizeof(float));
    for (int i = 0; i < rows; i++) p[i] = h_A[(size_t)i * cols];
    cudaMemcpyAsync(d_A, p, rows * sizeof(float), TO_DEVICE);
    cudaDeviceSynchronize();
    cudaFreeHost(p);
}
void pinned_kept(float *h_A, float *d_A, int rows, int cols) {
    static float *p = nullptr;
    if (!p) cudaHostAlloc(&p, rows * sizeof(float), cudaHostAllocMapped);
    for (int i = 0; i < rows; i++) p[i] = h_A[(size_t)i * cols];
    float *on_device;
    cudaHostGetDevicePointer(&on_device, p, 0);
    first<<<1, 1024>>>(on_device, d_A, rows, 1);
}
void whole(float *h_A, float *d_A, int rows, int cols) {
    float *m;
    cudaMalloc(&m, (size_t)rows * cols * sizeof(float));
    cudaMemcpy(m, h_A, (size_t)rows * cols * sizeof(float), TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, cols);
    cudaFree(m);
}
void whole_by_the_host(float *h_A, float *d_A, int rows, int cols) {
    size_t bytes = (size_t)rows * cols * sizeof(float);
    std::vector<float> v(rows * cols);
    std::memcpy(v.data(), h_A, bytes);
    float *m;
    cudaMalloc(&m, bytes);
    cudaMemcpy(m, v.data(), bytes, TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, cols);
}
void by_threads(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; t++)
        all.emplace_back([&, t] { for (int i = t; i < rows; i += 4) v[i] = h_A[(size_t)i * cols]; });
    for (auto &one : all) one.join();
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void two_columns(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(2 * rows);
    for (int i = 0; i < rows; i++) v[2 * i] = h_A[(size_t)i * cols], v[2 * i + 1] = h_A[(size_t)i * cols + 1];
    float *m;
    cudaMalloc(&m, 2 * rows * sizeof(float));
    cudaMemcpy(m, v.data(), 2 * rows * sizeof(float), TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, 2);
}
void in_walks(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(3 * rows);
    for (int walk = 0; walk < 3; walk++)
        for (int i = 0; i < rows; i++) v[walk * rows + i] = h_A[(size_t)i * cols + walk % 2 * 1024];
    float *m;
    cudaMalloc(&m, 3 * rows * sizeof(float));
    cudaMemcpy(m, v.data(), 3 * rows * sizeof(float), TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, 1);
}
void half_constant(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows, 1.0f);
    for (int i = 0; i < rows / 2; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void to_a_kernel(float *h_A, float *d_A, int rows, int cols) { first<<<1, 1024>>>(h_A, d_A, rows, cols); }
void vector_to_a_kernel(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    first<<<1, 1024>>>(v.data(), d_A, rows, 1);
}
void whole_pinned(float *h_A, float *d_A, int rows, int cols) {
    size_t bytes = (size_t)rows * cols * sizeof(float);
    float *p;
    cudaMallocHost(&p, bytes);
    std::memcpy(p, h_A, bytes);
    cudaMemcpy2D(d_A, 4, p, cols * sizeof(float), 4, rows, TO_DEVICE);
    cudaFreeHost(p);
}
void wide(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(40 * rows);
    for (int i = 0; i < rows; i++) std::memcpy(&v[40 * i], h_A + (size_t)i * cols, 160);
    float *m;
    cudaMalloc(&m, 160 * rows);
    cudaMemcpy(m, v.data(), 160 * rows, TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, 40);
}
void past_the_end(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy(d_A, h_A, (rows + 4) * sizeof(float), TO_DEVICE);
}

void reads_past(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)rows * cols - 3 + i];
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void reads_far_past(float *h_A, float *d_A, int rows, int cols) {
    float v = h_A[(size_t)rows * cols + 5000];
    cudaMemcpy(d_A, &v, sizeof v, TO_DEVICE);
}
void elements_for_bytes(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, v.data(), rows, TO_DEVICE);
}
void elements_from_the_input(float *h_A, float *d_A, int rows, int cols) { cudaMemcpy(d_A, h_A, rows, TO_DEVICE); }
void more_than_it_holds(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A + 2, v.data(), (size_t)rows * cols * sizeof(float), TO_DEVICE);
}
void pinned_too_small(float *h_A, float *d_A, int rows, int cols) {
    float *p;
    cudaMallocHost(&p, rows);
    for (int i = 0; i < rows; i++) p[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, p, rows * sizeof(float), TO_DEVICE);
}
void pinned_far_too_small(float *h_A, float *d_A, int rows, int cols) {
    float *p;
    cudaMallocHost(&p, 16);
    for (int i = 0; i < 100 * rows; i++) p[i] = 1;
}

void computes(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols] + 1;
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void negates(float *h_A, float *d_A, int rows, int cols) {
    float v = -h_A[0];
    cudaMemcpy(d_A, &v, sizeof v, TO_DEVICE);
}
void branches(float *h_A, float *d_A, int rows, int cols) {
    int positive = 0;
    for (int i = 0; i < rows; i++) positive += h_A[(size_t)i * cols] > 0;
    if (positive % 2) cudaMemset(d_A, 0, 4); else cudaMemset(d_A, 1, 8);
}
void draws_lots(float *h_A, float *d_A, int rows, int cols) {
    unsigned lot;
    getrandom(&lot, sizeof lot, 0);
    cudaMemset(d_A, 0, lot % 1000);
}
void sizes_by_values(float *h_A, float *d_A, int rows, int cols) {
    first<<<1, 1 + (int)(h_A[0] * h_A[0] * 1e6f) % 1000>>>(d_A, d_A, rows, cols);
}
void passes_a_value(float *h_A, float *d_A, int rows, int cols) {
    first<<<1, 1>>>(d_A, d_A, (int)(h_A[1] * 1e6f), cols);
}
void writes(float *h_A, float *d_A, int rows, int cols) {
    h_A[3] = 0;
    one_by_one(h_A, d_A, rows, cols);
}
void registers(float *h_A, float *d_A, int rows, int cols) {
    cudaHostRegister(h_A, rows * cols * sizeof(float), cudaHostRegisterDefault);
}
void back(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy(h_A, d_A, rows * sizeof(float), cudaMemcpyDeviceToHost);
}
void wrong_way(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy(d_A, h_A, rows * sizeof(float), cudaMemcpyDeviceToDevice);
}
void reads_the_output(float *h_A, float *d_A, int rows, int cols) {
    for (int i = 0; i < rows; i++) d_A[i] = h_A[(size_t)i * cols];
}
}
