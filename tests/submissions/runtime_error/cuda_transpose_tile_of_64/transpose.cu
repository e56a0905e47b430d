// A tile of 64×64 threads.
// expect: 4096
// expect: 1 to 1024 threads
// never: tl.
// base: accepted/cuda_transpose_tile
//-#define TILE 32
//+#define TILE 64
