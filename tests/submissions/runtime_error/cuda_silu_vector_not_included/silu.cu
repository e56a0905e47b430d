// std::vector without its header.
// expect: vector
// expect: #include <vector>
// never: tl.
// base: accepted/cuda_silu_block_of_100
//-    int threads = 100;
//+    std::vector<int> sizes(1, 256);
//+    int threads = sizes[0];
