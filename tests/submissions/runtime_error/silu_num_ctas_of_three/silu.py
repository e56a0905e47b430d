# num_ctas, taken for a number of programs.
# expect: num_ctas joins programs to clusters
# never: smaller blocks
# base: silu
#-    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
#+    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024, num_ctas=3)
