# Methods that end in an underscore compute as well.
# expect: x.clone
def silu(x, out):
    out[:] = x
    out.neg_().exp_().add_(1.0).reciprocal_()
    out.mul_(x)
    x.clone().sigmoid_()
