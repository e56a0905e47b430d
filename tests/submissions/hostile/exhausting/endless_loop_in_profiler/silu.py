# A trace function loops at the next call, in whatever code that is.
# verdict: time_limit, runtime_error
import sys

# shared: triton
def loop(*_):
    while True:
        pass


def attack():
    sys.setprofile(loop)
# shared: tells_of_attack
