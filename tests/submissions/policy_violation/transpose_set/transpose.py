# The same with set_.
# expect: must be done by a Triton kernel
def transpose(x, out):
    out.set_(x.untyped_storage(), 0, out.shape, (1, x.shape[1]))
