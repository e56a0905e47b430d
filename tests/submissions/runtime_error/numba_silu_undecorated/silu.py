# A function without cuda.jit is launched.
# expect: Only a function with @cuda.jit above it
# base: accepted/numba_silu_flat
#-@cuda.jit
