# The operator's method, called by name.
def gemm(a, b, out):
    out.copy_(a.__matmul__(b))
