# sys.exit in the middle of the work.
# expect: exit
import sys


def silu(x, out):
    sys.exit(0)
