# A signal handler loops, and an alarm calls it while the function runs.
# verdict: time_limit
import signal
import time

# shared: triton
def loop(*_):
    while True:
        pass


def attack():
    signal.signal(signal.SIGALRM, loop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    time.sleep(30)
# shared: tells_of_attack
