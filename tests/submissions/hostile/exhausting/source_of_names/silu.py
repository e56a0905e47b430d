# A source of assignments that name each other around.
# verdict: runtime_error, wrong_answer, time_limit, policy_violation
# times 2500: a{n} = lambda: (a{(7 * n + 1) % 2500}, a{(3 * n + 2) % 2500}.b)


def silu(x, out):
    return a0()
