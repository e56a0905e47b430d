# Stops itself, and waits where it may not.
# verdict: time_limit
import os
import signal
import time

# shared: triton
def attack():
    os.kill(os.getpid(), signal.SIGSTOP)
    # The first process of a namespace cannot be stopped.
    while True:
        time.sleep(60)
# shared: tells_of_attack
