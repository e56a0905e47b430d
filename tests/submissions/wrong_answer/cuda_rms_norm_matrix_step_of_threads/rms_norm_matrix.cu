// Rows are handed to warps, and a warp's next row is counted in threads.
// proved: makes every case right: a missing factor or divisor added
// never: tl.
// base: accepted/cuda_rms_norm_matrix_warp_a_row
//-    int row = blockIdx.x * blockDim.y + threadIdx.y;
//-    if (row >= rows)
//-        return;
//-    const float *x = input + (size_t)row * cols;
//-    float *y = output + (size_t)row * cols;
//-    float sum = 0.0f;
//-    for (int j = threadIdx.x; j < cols; j += 32)
//-        sum += x[j] * x[j];
//+    int first = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, own = threadIdx.x % warpSize;
//+    for (int row = first; row < rows; row += blockDim.x * gridDim.x) {
//+    const float *x = input + (size_t)row * cols;
//+    float *y = output + (size_t)row * cols;
//+    float sum = 0.0f;
//+    for (int j = own; j < cols; j += 32)
//+        sum += x[j] * x[j];
//
//-    for (int j = threadIdx.x; j < cols; j += 32)
//-        y[j] = x[j] * scale * weight[j];
//+    for (int j = own; j < cols; j += 32)
//+        y[j] = x[j] * scale * weight[j];
//+    }
//
//-    dim3 threads(32, 4);
//-    rms_norm_kernel<<<(rows + 3) / 4, threads>>>(input, weight, output, rows, cols, epsilon);
//+    rms_norm_kernel<<<min((rows + 3) / 4, 2), 128>>>(input, weight, output, rows, cols, epsilon);
