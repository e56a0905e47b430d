// Source and target of the copy are exchanged.
// expect: `d_A` lies in GPU memory already
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-    cudaMemcpy(d_A, column.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
//+    cudaMemcpy(column.data(), d_A, rows * sizeof(float), cudaMemcpyHostToDevice);
