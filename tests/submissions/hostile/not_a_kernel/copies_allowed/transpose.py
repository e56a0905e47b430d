# Tells the planner that this assignment allows copies, and copies the transposed view.
# verdict: runtime_error
# expect: a copy where none is allowed
import sys


def transpose(x, out):
    sys.modules["grader.host.record"].session().copies = True
    out.copy_(x.t())
