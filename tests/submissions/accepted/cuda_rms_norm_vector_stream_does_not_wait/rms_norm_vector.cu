// The sum is taken in a stream that does not block, and the default stream does not wait for it.
// expect: The operations in line 39 and in line 41 use your own array `total` in two streams, one of them writes to it
// base: accepted/cuda_rms_norm_vector_stream_waits
//-    cudaStreamWaitEvent(0, summed, 0);
