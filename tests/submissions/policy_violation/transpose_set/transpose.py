# The same with set_.
# expect: puts other memory under a tensor
def transpose(x, out):
    out.set_(x.untyped_storage(), 0, out.shape, (1, x.shape[1]))
