# No kernel at all: Python loops over single elements.
# expect: reads a number out of a tensor
def rmsnorm_vector(x, weight, eps, out):
    n = min(x.numel(), 64)
    total = 0.0
    for i in range(n):
        total += x[i].item() ** 2
    rstd = 1.0 / (total / n + eps) ** 0.5
    for i in range(n):
        out[i] = x[i].item() * rstd * weight[i].item()
