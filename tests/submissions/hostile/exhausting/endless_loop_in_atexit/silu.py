# A function registered with atexit loops, then the process ends.
# verdict: runtime_error, time_limit
import atexit
import sys

# shared: triton
def loop():
    while True:
        pass


def attack():
    atexit.register(loop)
    sys.exit(0)
# shared: tells_of_attack
