# A pattern that is matched in time exponential in the text, without a chance to interrupt.
# verdict: time_limit
import re

# shared: triton
def attack():
    re.match(r"(a+)+$", "a" * 60 + "!")
    raise AssertionError("matched")
# shared: tells_of_attack
