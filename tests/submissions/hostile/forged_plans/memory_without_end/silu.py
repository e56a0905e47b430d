# A thousand temporaries of an exbibyte each.
# verdict: memory_limit
# expect: The call allocates
# shared: forging
def forge(plan):
    plan["buffers"] += [{"bytes": 1 << 60} for _ in range(1000)]
# shared: forged
