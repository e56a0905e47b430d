# Waits for something that never comes.
# verdict: time_limit
import threading

# shared: triton
def attack():
    threading.Event().wait()
# shared: tells_of_attack
