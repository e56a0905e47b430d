// Maximum and sum go down to the first lane, and all lanes divide by what they have.
// proved: makes every case right: a different function
// never: tl.
// base: accepted/cuda_softmax_online
//-        float other_top = __shfl_xor_sync(0xffffffff, top, lane);
//-        float other_sum = __shfl_xor_sync(0xffffffff, sum, lane);
//+        float other_top = __shfl_down_sync(0xffffffff, top, lane);
//+        float other_sum = __shfl_down_sync(0xffffffff, sum, lane);
