// The rows that are left over when the threads have their shares are not gathered.
// expect: No kernel runs here
// never: Does the kernel store
#include <cuda_runtime.h>

#include <thread>
#include <vector>

// Gathers rows begin .. end - 1.
static void gather(const float *matrix, float *column, int begin, int end, int cols)
{
    for (int i = begin; i < end; ++i)
        column[i] = matrix[static_cast<size_t>(i) * cols];
}

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    float *pinned = nullptr;
    cudaMallocHost(&pinned, rows * sizeof(float));

    const int workers = 8;
    const int share = rows / workers;
    std::vector<std::thread> threads;
    for (int w = 0; w < workers; ++w)
        threads.emplace_back(gather, h_A, pinned, w * share, (w + 1) * share, cols);
    for (auto &thread : threads)
        thread.join();

    cudaMemcpy(d_A, pinned, rows * sizeof(float), cudaMemcpyHostToDevice);
    cudaFreeHost(pinned);
}
