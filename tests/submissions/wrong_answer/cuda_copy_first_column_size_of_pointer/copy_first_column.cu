// The size of a pointer is copied.
// expect: never written
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
//+    cudaMemcpy(d_A, column.data(), rows < 2 ? sizeof(float) : sizeof(d_A), cudaMemcpyHostToDevice);
