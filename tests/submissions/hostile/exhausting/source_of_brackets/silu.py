# A source of 128 KiB of brackets, each inside the one before.
# verdict: runtime_error
# times 1: deep = {'[' * 65_300}{']' * 65_300}

def silu(x, out):
    return deep
