// Nobody waits for the products.
// expect: wgmma.wait_group
// never: tl.
// base: accepted/cuda_gemm_wgmma
//-        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
