# A plan of 100,000 opening brackets, for a parser that recurses.
# verdict: runtime_error
# expect: its plan does not hold
# expect: recursion limit exceeded
# shared: forging
def forge(plan):
    return '{"buffers":' + "[" * 100_000
# shared: forged
