// All rows by one kernel of one block, as if the matrix were one row.
// expect: each row has
// never: tl.
// base: accepted/cuda_softmax_block_a_row
//-    softmax_kernel<<<rows, THREADS>>>(input, output, cols);
//+    softmax_kernel<<<1, THREADS>>>(input, output, rows * cols);
