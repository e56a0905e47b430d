# Calls itself through C until the stack is at its end.
# verdict: runtime_error, memory_limit, time_limit
import sys

# shared: triton
class Deep:
    def __repr__(self):
        return repr(self)


def attack():
    sys.setrecursionlimit(2**31 - 1)
    repr(Deep())
    raise AssertionError("the stack has no end")
# shared: tells_of_attack
