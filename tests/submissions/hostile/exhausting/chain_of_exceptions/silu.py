# 100,000 exceptions, each the cause of the next, and a circle of them.
# verdict: runtime_error, memory_limit, time_limit
# shared: triton
def attack():
    first = last = ValueError(0)
    for number in range(100_000):
        one = ValueError(number)
        one.__cause__ = last
        last = one
    first.__cause__ = last
    raise last
# shared: tells_of_attack
