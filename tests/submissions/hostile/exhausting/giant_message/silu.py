# Raises an exception with a message of 256 MiB.
# verdict: runtime_error, memory_limit, time_limit
# shared: triton
def attack():
    raise ValueError("<b>\x1b[2J" * (32 << 20))
# shared: tells_of_attack
