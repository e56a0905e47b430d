# The @ operator.
# expect: @
def gemm(a, b, out):
    out[:] = a @ b
