// Threads are added by warps until there are enough, and a tree halves their number.
// proved: makes every case right: a different operator
// never: tl.
// base: accepted/cuda_rms_norm_matrix_block_a_row
//-#define THREADS 256
//+#define THREADS 1024
//
//-    for (int j = threadIdx.x; j < cols; j += THREADS)
//-        sum += x[j] * x[j];
//+    for (int j = threadIdx.x; j < cols; j += blockDim.x)
//+        sum += x[j] * x[j];
//
//-    for (int half = THREADS / 2; half > 0; half /= 2) {
//+    for (int half = blockDim.x / 2; half > 0; half /= 2) {
//
//-    for (int j = threadIdx.x; j < cols; j += THREADS)
//-        y[j] = x[j] / rms * weight[j];
//+    for (int j = threadIdx.x; j < cols; j += blockDim.x)
//+        y[j] = x[j] / rms * weight[j];
//
//-    rms_norm_kernel<<<rows, THREADS>>>(input, weight, output, cols, epsilon);
//+    int threads = 32;
//+    while (threads < cols && threads < THREADS)
//+        threads += 32;
//+    rms_norm_kernel<<<rows, threads>>>(input, weight, output, cols, epsilon);
