// The tiles of the next step may overwrite those that others still read.
// expect: __syncthreads()
// never: tl.
// base: accepted/cuda_gemm_tile
//-        __syncthreads();
//-    }
//+    }
