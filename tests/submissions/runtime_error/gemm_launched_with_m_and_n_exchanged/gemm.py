# M and N change places in the launch.
# proved: line 29
# proved: two parts exchanged
# never: of its tile
# base: runtime_error/gemm_launched_with_a_and_b_exchanged
#-    gemm_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](b, a, out, M, N, K, TM=64, TN=64, TK=32)
#+    gemm_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](a, b, out, N, M, K, TM=64, TN=64, TK=32)
