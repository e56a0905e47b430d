// The descriptors say that the tiles are swizzled, and they are not.
// expect: follow what the kernel loads
// never: tl.
// base: accepted/cuda_gemm_wgmma
//-    return row * TILE + (column / 8 ^ row % 8) * 8 + column % 8;
//+    return row * TILE + column;
