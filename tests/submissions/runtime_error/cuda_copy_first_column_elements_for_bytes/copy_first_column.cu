// cudaMemcpy is given elements in place of bytes.
// expect: within an element
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
//+    cudaMemcpy(d_A, column.data(), rows, cudaMemcpyHostToDevice);
