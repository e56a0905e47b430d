# A thread that is no daemon loops, then the process ends.
# verdict: runtime_error, time_limit
import sys
import threading

# shared: triton
def loop():
    while True:
        pass


def attack():
    threading.Thread(target=loop).start()
    sys.exit(0)
# shared: tells_of_attack
