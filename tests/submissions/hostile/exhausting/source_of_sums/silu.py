# A source of 60,000 summands: wide to read, and a tree as deep.
# verdict: runtime_error
# times 1: deep = {'1+' * 60_000}1

def silu(x, out):
    return deep
