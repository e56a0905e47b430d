# The @ operator.
# expect: matmul
def gemm(a, b, out):
    out[:] = a @ b
