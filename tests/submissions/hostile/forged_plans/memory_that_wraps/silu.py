# Two temporaries whose sizes add up to 0 in 64 bits.
# verdict: memory_limit
# expect: The call allocates
# shared: forging
def forge(plan):
    plan["buffers"] += [{"bytes": (1 << 63) - 1}, {"bytes": (1 << 63) - 1}, {"bytes": 2}]
# shared: forged
