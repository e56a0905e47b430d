# Raises the recursion limit and nests 100,000 calls through C.
# expect: calls itself without end
import sys


def descend(depth):
    return max(map(descend, [depth - 1])) if depth else 0


def silu(x, out):
    sys.setrecursionlimit(1_000_000)
    descend(100_000)
