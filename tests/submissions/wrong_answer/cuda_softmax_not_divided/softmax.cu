// The division is forgotten.
// expect: divided by the sum
// never: tl.
// base: accepted/cuda_softmax_block_a_row
//-    sum = room[0];
//
//-        y[j] = expf(x[j] - top) / sum;
//+        y[j] = expf(x[j] - top);
