// First column: d_A[i] = h_A[i, 0], from host memory to the device.
//
// h_A: rows·cols floats in ordinary host memory, row after row; d_A: rows floats on the device; any sizes from 1 on.
// Write into d_A, which arrives full of NaN; leave h_A alone. Every bit must arrive as it was.

#include <cuda_runtime.h>

void copy_first_column(float *h_A, float *d_A, int rows, int cols)
{
    // A kernel cannot reach ordinary host memory: cudaMemcpy and its kin can, and a loop on the host may put
    // elements of h_A side by side first. Which way moves the fewest bytes in the fewest steps?
    // not written yet: copy_first_column
}
