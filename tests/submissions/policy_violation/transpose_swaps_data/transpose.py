# out is made to point at a transposed view of x: nothing is moved, nothing is launched.
# expect: puts other memory under a tensor
def transpose(x, out):
    out.data = x.t()
