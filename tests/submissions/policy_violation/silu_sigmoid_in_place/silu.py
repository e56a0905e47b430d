# Methods that end in an underscore compute as well.
# expect: copy_
def silu(x, out):
    out[:] = x
    out.neg_().exp_().add_(1.0).reciprocal_()
    out.mul_(x)
    x.clone().sigmoid_()
