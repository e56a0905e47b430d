// Runs your kernels on small inputs on your GPU, and compares them with loops on the CPU. It checks those that it is
// linked with: `nvcc -std=c++17 -arch=native main.cu silu.cu -o silu && ./silu`. The grader does not use this file.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "kernels.h"

// Weak: null for a function that is not linked.
#define MAYBE __attribute__((weak))
MAYBE void silu(float *, float *, int);
MAYBE void rms_norm_vector(float *, float *, float *, int, float);
MAYBE void rms_norm_matrix(float *, float *, float *, int, int, float);
MAYBE void copy_first_column(float *, float *, int, int);
MAYBE void transpose(const float *, float *, int, int);
MAYBE void gemm(const half *, const half *, half *, int, int, int);
MAYBE void vector_copy(const float *, float *, int);
MAYBE void gelu(const float *, float *, int);
MAYBE void softmax(const float *, float *, int, int);
MAYBE void greyscale(const unsigned char *, unsigned char *, int, int);

using Bytes = std::vector<unsigned char>;
using Floats = std::vector<float>;
using Halves = std::vector<half>;

static bool all_right = true;
static std::mt19937 generator(1);

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::printf("%s: %s\n", what, cudaGetErrorString(error));
    // After most errors the device does nothing any more.
    std::exit(1);
}

// An array on the device, for as long as this object lives.
template <typename T>
struct Device {
    T *data = nullptr;
    size_t count;

    explicit Device(size_t elements) : count(elements)
    {
        must(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc");
        // NaN, as floats.
        must(cudaMemset(data, 0xff, count * sizeof(T)), "cudaMemset");
    }
    explicit Device(const std::vector<T> &host) : Device(host.size())
    {
        must(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    ~Device() { cudaFree(data); }

    std::vector<T> host() const
    {
        std::vector<T> copy(count);
        must(cudaMemcpy(copy.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost), "running your kernel");
        return copy;
    }
};

static Floats random_floats(size_t count)
{
    std::normal_distribution<float> normal(0.5f, 2.0f);
    Floats x(count);
    for (float &one : x)
        one = normal(generator);
    return x;
}

static Halves random_halves(size_t count)
{
    Halves x(count);
    std::normal_distribution<float> normal(0.0f, 1.0f);
    for (half &one : x)
        one = __float2half(normal(generator));
    return x;
}

static double number(float x) { return x; }
static double number(half x) { return __half2float(x); }
static double number(unsigned char x) { return x; }

// Prints right or wrong. An element may differ by `relative` of itself, and by `absolute`.
template <typename T>
static void compare(const char *name, const char *sizes, const std::vector<T> &got, const std::vector<double> &expected,
                    double relative, double absolute)
{
    must(cudaGetLastError(), "a launch of your kernel");
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double difference = std::fabs(number(got[i]) - expected[i]);
        // Written so that NaN is wrong.
        if (!(difference <= relative * std::fabs(expected[i]) + absolute) && wrong++ == 0)
            first = i;
    }
    if (wrong == 0) {
        std::printf("%s %s: right\n", name, sizes);
        return;
    }
    all_right = false;
    std::printf("%s %s: wrong, %zu of %zu elements. Element %zu is %g, and should be %g\n", name, sizes, wrong,
                got.size(), first, number(got[first]), expected[first]);
}

template <typename Function, typename Formula>
static void check_elements(const char *name, Function function, Formula formula, double relative)
{
    for (int n : {1, 45, 1024, 1009, 100003}) {
        const Floats x = random_floats(n);
        Device<float> input(x), output(n);
        function(input.data, output.data, n);
        std::vector<double> expected;
        for (float one : x)
            expected.push_back(formula(double(one)));
        compare(name, std::to_string(n).c_str(), output.host(), expected, relative, relative);
    }
}

static std::vector<double> normalised(const Floats &x, const Floats &weight, int rows, int cols, double epsilon)
{
    std::vector<double> expected(x.size());
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < cols; ++j)
            sum += double(x[size_t(i) * cols + j]) * x[size_t(i) * cols + j];
        for (int j = 0; j < cols; ++j)
            expected[size_t(i) * cols + j] = x[size_t(i) * cols + j] * weight[j] / std::sqrt(sum / cols + epsilon);
    }
    return expected;
}

static void check_rms_norm_vector()
{
    for (int cols : {1, 7, 1024, 4099, 131120}) {
        const Floats x = random_floats(cols), scales = random_floats(cols);
        Device<float> input(x), weight(scales), output(cols);
        rms_norm_vector(input.data, weight.data, output.data, cols, 1e-5f);
        compare("rms_norm_vector", std::to_string(cols).c_str(), output.host(), normalised(x, scales, 1, cols, 1e-5),
                3e-5, 1e-6);
    }
}

struct Sizes {
    int rows, cols;
    std::string text() const { return std::to_string(rows) + "x" + std::to_string(cols); }
};
static const Sizes MATRICES[] = {{1, 1}, {5, 9}, {1, 1009}, {64, 64}, {1031, 3}, {67, 127}, {3, 4099}};

static void check_rms_norm_matrix()
{
    for (const Sizes &size : MATRICES) {
        const Floats x = random_floats(size_t(size.rows) * size.cols), scales = random_floats(size.cols);
        Device<float> input(x), weight(scales), output(x.size());
        rms_norm_matrix(input.data, weight.data, output.data, size.rows, size.cols, 1e-5f);
        compare("rms_norm_matrix", size.text().c_str(), output.host(),
                normalised(x, scales, size.rows, size.cols, 1e-5), 3e-5, 1e-6);
    }
}

static void check_copy_first_column()
{
    for (const Sizes &size : MATRICES) {
        Floats x = random_floats(size_t(size.rows) * size.cols);
        Device<float> output(size.rows);
        copy_first_column(x.data(), output.data, size.rows, size.cols);
        std::vector<double> expected;
        for (int i = 0; i < size.rows; ++i)
            expected.push_back(x[size_t(i) * size.cols]);
        compare("copy_first_column", size.text().c_str(), output.host(), expected, 0, 0);
    }
}

static void check_transpose()
{
    for (const Sizes &size : MATRICES) {
        const Floats x = random_floats(size_t(size.rows) * size.cols);
        Device<float> input(x), output(x.size());
        transpose(input.data, output.data, size.rows, size.cols);
        std::vector<double> expected;
        for (int j = 0; j < size.cols; ++j)
            for (int i = 0; i < size.rows; ++i)
                expected.push_back(x[size_t(i) * size.cols + j]);
        compare("transpose", size.text().c_str(), output.host(), expected, 0, 0);
    }
}

static void check_softmax()
{
    for (const Sizes &size : MATRICES) {
        const Floats x = random_floats(size_t(size.rows) * size.cols);
        Device<float> input(x), output(x.size());
        softmax(input.data, output.data, size.rows, size.cols);
        std::vector<double> expected;
        for (int i = 0; i < size.rows; ++i) {
            const float *row = &x[size_t(i) * size.cols];
            double top = row[0], sum = 0;
            for (int j = 0; j < size.cols; ++j)
                top = std::fmax(top, row[j]);
            for (int j = 0; j < size.cols; ++j)
                sum += std::exp(row[j] - top);
            for (int j = 0; j < size.cols; ++j)
                expected.push_back(std::exp(row[j] - top) / sum);
        }
        compare("softmax", size.text().c_str(), output.host(), expected, 1e-5, 1e-30);
    }
}

static void check_gemm()
{
    const int sizes[][3] = {
        {1, 1, 1}, {5, 9, 7}, {16, 16, 16}, {1, 17, 257}, {33, 65, 127}, {64, 64, 64}, {130, 70, 257}};
    for (const auto &[M, N, K] : sizes) {
        const Halves a = random_halves(size_t(M) * K), b = random_halves(size_t(K) * N);
        Device<half> A(a), B(b), C(size_t(M) * N);
        gemm(A.data, B.data, C.data, M, N, K);
        std::vector<double> expected;
        for (int i = 0; i < M; ++i)
            for (int j = 0; j < N; ++j) {
                double sum = 0;
                for (int k = 0; k < K; ++k)
                    sum += number(a[size_t(i) * K + k]) * number(b[size_t(k) * N + j]);
                expected.push_back(sum);
            }
        const std::string text = std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K);
        compare("gemm", text.c_str(), C.host(), expected, 1e-3, 1e-3 * std::sqrt(K));
    }
}

static void check_greyscale()
{
    for (const Sizes &size : MATRICES) {
        const size_t pixels = size_t(size.rows) * size.cols;
        Bytes x(3 * pixels);
        for (unsigned char &one : x)
            one = static_cast<unsigned char>(generator() % 256);
        Device<unsigned char> input(x), output(pixels);
        greyscale(input.data, output.data, size.rows, size.cols);
        std::vector<double> expected;
        for (size_t i = 0; i < pixels; ++i)
            expected.push_back(std::floor(0.299 * x[i] + 0.587 * x[pixels + i] + 0.114 * x[2 * pixels + i] + 0.5));
        compare("greyscale", size.text().c_str(), output.host(), expected, 0, 1);
    }
}

static double silu_of(double x) { return x / (1 + std::exp(-x)); }
static double gelu_of(double x) { return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
static double itself(double x) { return x; }

int main()
{
    if (silu)
        check_elements("silu", silu, silu_of, 1e-6);
    if (gelu)
        check_elements("gelu", gelu, gelu_of, 1e-6);
    if (vector_copy)
        check_elements("vector_copy", vector_copy, itself, 0);
    if (rms_norm_vector)
        check_rms_norm_vector();
    if (rms_norm_matrix)
        check_rms_norm_matrix();
    if (copy_first_column)
        check_copy_first_column();
    if (transpose)
        check_transpose();
    if (softmax)
        check_softmax();
    if (gemm)
        check_gemm();
    if (greyscale)
        check_greyscale();
    return all_right ? 0 : 1;
}
