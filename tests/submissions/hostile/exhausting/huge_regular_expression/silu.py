# A pattern of 30 million characters.
# verdict: time_limit, memory_limit, runtime_error
import re

# shared: triton
def attack():
    re.compile("|".join(f"(a{number})" for number in range(4_000_000)))
    raise AssertionError("compiled")
# shared: tells_of_attack
