# out is made to point at a transposed view of x: nothing is moved, nothing is launched.
def transpose(x, out):
    out.data = x.t()
