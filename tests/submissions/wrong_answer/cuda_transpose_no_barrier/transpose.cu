// The barrier between the stores to the tile and the loads is missing.
// expect: __syncthreads()
// expect: tile
// never: tl.
// base: accepted/cuda_transpose_tile
//-    __syncthreads();
