// cudaMemcpyDeviceToHost, where the source is the host's.
// expect: its source is host memory
// expect: cudaMemcpyHostToDevice
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
//+    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyDeviceToHost);
