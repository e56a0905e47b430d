// Rows along z, where a grid has 65,535 blocks at most.
// expect: 65535
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-    const float *x = input + (size_t)blockIdx.x * cols;
//-    float *y = output + (size_t)blockIdx.x * cols;
//+    const float *x = input + (size_t)blockIdx.z * cols;
//+    float *y = output + (size_t)blockIdx.z * cols;
//
//-    rms_norm_kernel<<<rows, THREADS>>>(input, weight, output, cols, epsilon);
//+    rms_norm_kernel<<<dim3(1, 1, rows), THREADS>>>(input, weight, output, cols, epsilon);
