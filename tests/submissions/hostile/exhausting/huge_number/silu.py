# A number of so many digits that no exception can interrupt its making.
# verdict: time_limit, memory_limit, runtime_error
# shared: triton
def attack():
    digits = 9
    for _ in range(9):
        digits = digits ** 9
    raise AssertionError("made")
# shared: tells_of_attack
