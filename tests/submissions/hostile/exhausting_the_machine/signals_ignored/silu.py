# Ignores and blocks every signal that can be, processor time among them, then loops.
# verdict: time_limit
import signal

# shared: triton
def attack():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        pass
# shared: tells_of_attack
