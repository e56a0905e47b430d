# Closes every descriptor, the grader's channel among them, then loops.
# verdict: runtime_error, time_limit
import os

# shared: triton
def attack():
    os.closerange(0, 4096)
    while True:
        pass
# shared: tells_of_attack
