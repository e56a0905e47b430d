// Types whose names double with each step.
// verdict: runtime_error, time_limit, memory_limit
// base: accepted/cuda_silu_plain
//-#include <cuda_runtime.h>
//+template <typename A, typename B>
//+struct Pair {
//+    static constexpr int size = A::size + B::size;
//+};
//+
//+struct One {
//+    static constexpr int size = 1;
//+};
//+
//+template <int N, typename T = One>
//+struct Tree {
//+    using type = Pair<typename Tree<N - 1, Pair<T, One>>::type, typename Tree<N - 1, Pair<One, T>>::type>;
//+};
//+
//+template <typename T>
//+struct Tree<0, T> {
//+    using type = T;
//+};
//+
//+static_assert(Tree<40>::type::size > 0);
//+
//+#include <cuda_runtime.h>
