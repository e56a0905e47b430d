# A source of 100 KiB of signs, each before the next: no bracket is counted.
# verdict: runtime_error
# times 1: deep = {'-~' * 51_000}1

def silu(x, out):
    return deep
