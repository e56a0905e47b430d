# The grid has one program, which works on the first row.
# expect: starts 1 program
# expect: covers only the first
# never: exchanged
# never: the mask of
# base: rmsnorm_matrix
#-    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
#+    rmsnorm_kernel[(1,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
