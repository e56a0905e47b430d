# A function that calls itself for ever.
# expect: recursion
def silu(x, out):
    silu(x, out)
