// Calls itself without end.
// verdict: runtime_error
// base: accepted/cuda_silu_block_of_100
//-void silu(float *input, float *output, int n)
//+static int deeper(volatile int depth)
//+{
//+    volatile char room[4096];
//+    room[depth % 4096] = 1;
//+    return deeper(depth + 1) + room[0];
//+}
//+
//+void silu(float *input, float *output, int n)
//
//-    int threads = 100;
//+    int threads = 256 + deeper(0);
