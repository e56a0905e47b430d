// The maximum is read while others already store their sums in its place.
// expect: __syncthreads()
// never: tl.
// base: accepted/cuda_softmax_block_a_row
//-    __syncthreads();
//-
//+
