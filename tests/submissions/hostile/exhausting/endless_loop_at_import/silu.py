# Loops while it is imported.
# verdict: time_limit
# shared: triton
def attack():
    while True:
        pass
# shared: tells_of_attack
